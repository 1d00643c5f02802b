/** A job of the server that was begun: asked about until it has ended. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf } from "../api/client";
import type { Job } from "../api/made";
import { base } from "../store/desk";
import { type Doing, useDoing } from "./useDoing";

export interface BegunJob extends Pick<Doing, "problem" | "act"> {
  readonly job: Signal<Job | null>;
  begin(asked: Promise<Job>): Promise<boolean>;
}

const AGAIN_MS = 400;

export function useJob(ended: () => void): BegunJob {
  const job = useSignal<Job | null>(null);
  const { problem, act } = useDoing();
  const begin = (asked: Promise<Job>): Promise<boolean> => act(async () => (job.value = await asked));
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
  return { job, problem, act, begin };
}
