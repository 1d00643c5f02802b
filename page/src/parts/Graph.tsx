/** Steps as they stand to each other: a graph on a wide screen, their list on a narrow one. What a node shows is given. */
import type { ComponentChildren } from "preact";
import { layout, type Made, type Spot } from "./layout";

const WIDE = 148;
/** The least room for a column: narrower, it is scrolled. */
const NARROW = 104;
const HIGH = 46;
const GAP_X = 24;
const GAP_Y = 12;

export function Graph<T extends Made>({ steps, node }: { steps: Iterable<T>; node: (step: T) => ComponentChildren }) {
  const drawn = layout(steps);
  const inColumn: number[] = [];
  for (const spot of drawn.spots) inColumn[spot.column] = (inColumn[spot.column] ?? 0) + 1;
  const left = (spot: Spot<T>): number => spot.column * (WIDE + GAP_X); // in a drawing of its natural width; it is pressed together where there is less
  const top = (spot: Spot<T>): number => (spot.row + (drawn.rows - (inColumn[spot.column] ?? 1)) / 2) * (HIGH + GAP_Y);
  const width = drawn.columns * WIDE + (drawn.columns - 1) * GAP_X;
  const height = drawn.rows * HIGH + (drawn.rows - 1) * GAP_Y;
  return (
    <div class="graph">
      <div class="drawing" style={{ width: `${width}px`, minWidth: `${drawn.columns * NARROW}px`, height: `${height}px` }}>
        <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
          {drawn.edges.map(([from, into]) => {
            const [x1, y1, x2, y2] = [left(from) + WIDE, top(from) + HIGH / 2, left(into), top(into) + HIGH / 2];
            const bend = (x2 - x1) / 2;
            return <path key={`${from.step.name} ${into.step.name}`} d={`M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`} />;
          })}
        </svg>
        <ol aria-label="Steps">
          {drawn.spots.map((spot) => (
            <li key={spot.step.name} style={{ left: `${(left(spot) / width) * 100}%`, width: `${(WIDE / width) * 100}%`, top: `${top(spot)}px` }}>{node(spot.step)}</li>
          ))}
        </ol>
      </div>
    </div>
  );
}
