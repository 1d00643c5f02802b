/** What the server says of a wish, asked once the wish has stood still for a moment. The last one asked for counts. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { problemOf, type Problem } from "../api/client";

const STILL_MS = 500;

/** `key` tells one wish from another; `null`: there is nothing to ask. */
export function useSettled<T>(key: string | null, ask: () => Promise<T>): { found: Signal<T | null>; problem: Signal<Problem | null> } {
  const found = useSignal<T | null>(null);
  const problem = useSignal<Problem | null>(null);
  useEffect(() => {
    if (key === null) return;
    let gone = false;
    const timer = setTimeout(() => {
      ask().then(
        (answer) => {
          if (gone) return;
          found.value = answer;
          problem.value = null;
        },
        (error: unknown) => {
          if (!gone) problem.value = problemOf(error);
        },
      );
    }, STILL_MS);
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [key]);
  return { found, problem };
}
