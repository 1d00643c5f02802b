/** Where the steps of a pipeline stand: a column for each distance from the beginning. Pure. */
export interface Made {
  readonly name: string;
  readonly requires: readonly string[];
}
export interface Spot<T extends Made> {
  readonly step: T;
  readonly column: number;
  readonly row: number;
}
export interface Drawn<T extends Made> {
  readonly spots: readonly Spot<T>[];
  readonly edges: readonly (readonly [Spot<T>, Spot<T>])[];
  readonly columns: number;
  readonly rows: number;
}

export function layout<T extends Made>(steps: Iterable<T>): Drawn<T> {
  const all = [...steps];
  const byName = new Map(all.map((step) => [step.name, step]));
  const columns = new Map<string, number>();
  const columnOf = (step: T, above: readonly string[] = []): number => {
    const known = columns.get(step.name);
    if (known !== undefined) return known;
    const before = step.requires.filter((name) => !above.includes(name)).flatMap((name) => byName.get(name) ?? []);
    const column = before.length ? 1 + Math.max(...before.map((one) => columnOf(one, [...above, step.name]))) : 0;
    columns.set(step.name, column);
    return column;
  };
  const filled: number[] = [];
  const spots = all.map((step): Spot<T> => {
    const column = columnOf(step);
    const row = filled[column] ?? 0;
    filled[column] = row + 1;
    return { step, column, row };
  });
  const at = new Map(spots.map((spot) => [spot.step.name, spot]));
  const edges: [Spot<T>, Spot<T>][] = [];
  for (const spot of spots) {
    const direct = spot.step.requires.filter(
      (name) => !spot.step.requires.some((other) => other !== name && reaches(byName, other, name)),
    );
    for (const name of direct) {
      const from = at.get(name);
      if (from) edges.push([from, spot]);
    }
  }
  return { spots, edges, columns: filled.length, rows: Math.max(0, ...filled) };
}

/** Whether `from` is made from `goal`, over however many steps: then an edge to both tells nothing more. */
function reaches(byName: ReadonlyMap<string, Made>, from: string, goal: string, seen = new Set<string>()): boolean {
  if (seen.has(from)) return false;
  seen.add(from);
  const step = byName.get(from);
  return step !== undefined && step.requires.some((name) => name === goal || reaches(byName, name, goal, seen));
}
