/** Giving an answer: while it is on its way, and when it is refused. */
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
