/** Something a person asked for: whether it is going on, and what went wrong with it. */
import { type Signal, useSignal } from "@preact/signals";
import { problemOf, type Problem } from "../api/client";

export interface Doing {
  readonly busy: Signal<boolean>;
  /** Of what was asked for last. */
  readonly problem: Signal<Problem | null>;
  /** Does it, and gives whether that went well. */
  act(run: () => Promise<unknown>): Promise<boolean>;
}

export function useDoing(): Doing {
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const act = async (run: () => Promise<unknown>): Promise<boolean> => {
    busy.value = true;
    problem.value = null;
    try {
      await run();
      return true;
    } catch (error) {
      problem.value = problemOf(error);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy, problem, act };
}
