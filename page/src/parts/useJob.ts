/** A job of the server that was begun: asked about until it has ended. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf, type Problem } from "../api/client";
import type { Job } from "../api/made";
import { base } from "../store/desk";

export interface Begun {
  readonly job: Signal<Job | null>;
  readonly problem: Signal<Problem | null>;
  begin(asked: Promise<Job>): Promise<void>;
}

const AGAIN_MS = 400;

export function useJob(ended: () => void): Begun {
  const job = useSignal<Job | null>(null);
  const problem = useSignal<Problem | null>(null);
  const begin = async (asked: Promise<Job>): Promise<void> => {
    try {
      job.value = await asked;
      problem.value = null;
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  useEffect(() => {
    if (job.value?.state !== "working") return;
    const id = job.value.id;
    const timer = setTimeout(() => {
      get<Job>(`${base.value}/jobs/${encodeURIComponent(id)}`).then(
        (now) => {
          job.value = now;
          if (now.state !== "working") ended();
        },
        (error: unknown) => (problem.value = problemOf(error)),
      );
    }, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [job.value]);
  return { job, problem, begin };
}
