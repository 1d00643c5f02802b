import type { SourceRow } from "../api/made";

const LOOKS: Readonly<Record<string, readonly [sign: string, look: string]>> = {
  ready: ["✓", "good"],
  failed: ["✗", "bad"],
  broken: ["✗", "bad"],
  "needs sign-in": ["?", "warn"],
  untested: ["○", "soft"],
};

/** How the last try to reach it ended. */
export function SourceState({ source }: { source: SourceRow }) {
  const [sign, look] = LOOKS[source.state] ?? ["·", "soft"];
  return <span class={look}><span aria-hidden="true">{sign} </span>{source.state}</span>;
}
