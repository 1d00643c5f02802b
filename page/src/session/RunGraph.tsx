/** The pipeline of a run, and how far it is. */
import { Graph } from "../parts/Graph";
import { humanMs, now, stateOf } from "../parts/words";
import type { Run, Step } from "../store/run";

export function RunGraph({ run, rev, chosen, choose }: { run: Run; rev: number; chosen: string; choose: (step: string) => void }) {
  return <Graph steps={run.steps.values()} node={(step) => <Node step={step} rev={rev} chosen={step.name === chosen} choose={choose} />} />;
}

function Node({ step, chosen, choose }: { step: Step; rev: number; chosen: boolean; choose: (step: string) => void }) {
  const asks = step.gates.some((gate) => !gate.resolved);
  const state = stateOf(asks ? "waiting" : step.state, asks ? "session" : "step");
  return (
    <button
      type="button"
      class={`node ${state.look}`}
      aria-expanded={chosen}
      aria-label={`${step.name}: ${told(step, state.word)}`}
      title={step.reason}
      onClick={() => choose(step.name)}
    >
      <span class="name"><span class="sign" aria-hidden="true">{state.sign}</span>{step.name}</span>
      <span class="told">{told(step, state.word)}</span>
    </button>
  );
}

function told(step: Step, word: string): string {
  const last = step.attempts.at(-1);
  const round = step.round ? ` · round ${step.round.round}` : "";
  if (step.state === "running" && last) {
    const ms = now.value - Date.parse(last.at);
    return `${word}${ms > 1500 ? ` ${humanMs(ms)}` : ""}${round}`;
  }
  if (step.gates.some((gate) => !gate.resolved)) return word;
  if (step.state === "waiting" && step.until) return `until ${new Date(step.until).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" })}`;
  const tries = step.attempts.length > 1 ? ` · ${step.attempts.length} attempts` : "";
  return last?.ms != null && step.state !== "skipped" && step.state !== "passed" ? `${word}${round || tries || ` · ${humanMs(last.ms)}`}` : `${word}${round}`;
}
