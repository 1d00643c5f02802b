/** Giving an answer: while it is on its way, and when it is refused. */
import { useSignal, type Signal } from "@preact/signals";
import { command, problemOf, type Problem } from "../api/client";
import type { Command } from "../api/made";

export interface Answering {
  readonly busy: Signal<boolean>;
  readonly problem: Signal<Problem | null>;
  give(given: Command): Promise<boolean>;
}

export function useAnswering(base: string, session: string): Answering {
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  return {
    busy,
    problem,
    async give(given) {
      busy.value = true;
      problem.value = null;
      try {
        await command(base, session, given);
        return true;
      } catch (error) {
        problem.value = problemOf(error);
        return false;
      } finally {
        busy.value = false;
      }
    },
  };
}

export interface AskProps {
  readonly base: string;
  readonly session: string;
  /** Its keys work: it is the one that is in front. */
  readonly first?: boolean;
}
