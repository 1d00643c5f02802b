/** The pipeline as it is, and how far it is: a graph on a wide screen, its list of steps on a narrow one. */
import { humanMs, now, stateOf } from "../parts/words";
import type { Run, Step } from "../store/run";
import { layout, type Made, type Spot } from "./layout";

const WIDE = 132;
const HIGH = 46;
const GAP_X = 24;
const GAP_Y = 12;

const left = (spot: Spot<Made>): number => spot.column * (WIDE + GAP_X);
const top = (spot: Spot<Made>, rows: number, inColumn: number): number =>
  spot.row * (HIGH + GAP_Y) + ((rows - inColumn) * (HIGH + GAP_Y)) / 2;

export function Graph({ run, rev, chosen, choose }: { run: Run; rev: number; chosen: string; choose: (step: string) => void }) {
  const drawn = layout(run.steps.values());
  const perColumn = drawn.spots.reduce<number[]>((sum, spot) => {
    sum[spot.column] = (sum[spot.column] ?? 0) + 1;
    return sum;
  }, []);
  const y = (spot: Spot<Made>): number => top(spot, drawn.rows, perColumn[spot.column] ?? 1);
  const width = drawn.columns * WIDE + (drawn.columns - 1) * GAP_X;
  const height = drawn.rows * HIGH + (drawn.rows - 1) * GAP_Y;
  return (
    <div class="graph">
      <div class="drawing" style={{ width: `${width}px`, height: `${height}px` }}>
        <svg width={width} height={height} aria-hidden="true">
          {drawn.edges.map(([from, into]) => {
            const x1 = left(from) + WIDE;
            const x2 = left(into);
            const y1 = y(from) + HIGH / 2;
            const y2 = y(into) + HIGH / 2;
            const bend = (x2 - x1) / 2;
            return <path key={`${from.step.name} ${into.step.name}`} d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />;
          })}
        </svg>
        <ol aria-label="Steps">
          {drawn.spots.map((spot) => (
            <li key={spot.step.name} style={{ left: `${left(spot)}px`, top: `${y(spot)}px` }}>
              <Node step={spot.step} rev={rev} chosen={spot.step.name === chosen} choose={choose} />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

function Node({ step, chosen, choose }: { step: Step; rev: number; chosen: boolean; choose: (step: string) => void }) {
  const asks = step.gates.some((gate) => !gate.resolved);
  const state = stateOf(asks ? "waiting" : step.state, asks ? "session" : "step");
  return (
    <button
      type="button"
      class={`node ${state.look}`}
      aria-expanded={chosen}
      aria-label={`${step.name}: ${state.word}`}
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
  const tries = step.attempts.length > 1 ? ` · ${step.attempts.length} attempts` : "";
  return last?.ms != null && step.state !== "skipped" ? `${word} · ${humanMs(last.ms)}${round || tries}` : `${word}${round}`;
}
