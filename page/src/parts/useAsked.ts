/** What the server says to a question, asked again when the question is another one. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf, type Problem } from "../api/client";

export interface Asked<T> {
  readonly found: Signal<T | null>;
  readonly problem: Signal<Problem | null>;
  again(): void;
}

/** `address` "" asks nothing. */
export function useAsked<T>(address: string, ...also: unknown[]): Asked<T> {
  return useAnswer<T>(address, null, also);
}

/** A server that can't be reached, or does not know this browser, is asked again. */
const AGAIN_MS = 2000;

const lists = new Map<string, unknown>();

/** A list that changes seldom: it stands there as it was last, while it is asked for again. */
export function useList<T>(address: string): Asked<T> {
  const asked = useAnswer<T>(address, (lists.get(address) as T | undefined) ?? null, []);
  useEffect(() => {
    if (asked.found.value) lists.set(address, asked.found.value);
  }, [asked.found.value]);
  return asked;
}

function useAnswer<T>(address: string, before: T | null, also: readonly unknown[]): Asked<T> {
  const found = useSignal<T | null>(before);
  const problem = useSignal<Problem | null>(null);
  const round = useSignal(0);
  useEffect(() => {
    if (!address) return;
    let gone = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    get<T>(address).then(
      (value) => {
        if (gone) return;
        found.value = value;
        problem.value = null;
      },
      (error: unknown) => {
        if (gone) return;
        problem.value = problemOf(error);
        if (problem.value.status === 0 || problem.value.status === 401) timer = setTimeout(() => (round.value += 1), AGAIN_MS);
      },
    );
    return () => {
      gone = true;
      clearTimeout(timer);
    };
  }, [address, round.value, ...also]);
  return { found, problem, again: () => (round.value += 1) };
}
