/** Giving an answer: while it is on its way, and when it is refused. */
import { useEffect } from "preact/hooks";
import { command } from "../api/client";
import type { Command } from "../api/made";
import { type Doing, useDoing } from "../parts/useDoing";

export interface Answering extends Pick<Doing, "busy" | "problem"> {
  give(given: Command): Promise<boolean>;
}

export function useAnswering(base: string, session: string): Answering {
  const { busy, problem, act } = useDoing();
  return { busy, problem, give: (given) => act(() => command(base, session, given)) };
}

export interface AskProps {
  readonly base: string;
  readonly session: string;
  /** Its keys work: it is the one that is in front. */
  readonly first?: boolean;
}

/** Keys that answer what is in front, where nobody types. `press` says whether it was one of them. */
export function useAnswerKeys(first: boolean, press: (key: string) => boolean, also: readonly unknown[]): void {
  useEffect(() => {
    if (!first) return;
    const pressed = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (press(event.key)) event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [first, ...also]);
}

export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}
