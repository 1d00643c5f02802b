/** A table whose columns sort it, up and then down. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

interface Props<T> {
  readonly names: readonly string[];
  readonly rows: readonly T[];
  /** What a cell says, to be sorted by. */
  readonly value: (row: T, column: number) => unknown;
  readonly cell: (row: T, column: number) => ComponentChildren;
}

export function SortTable<T>({ names, rows, value, cell }: Props<T>) {
  const by = useSignal<{ column: number; down: boolean } | null>(null);
  const sorted = by.value ? rows.toSorted((one, other) => compared(value(one, by.value?.column ?? 0), value(other, by.value?.column ?? 0)) * (by.value?.down ? -1 : 1)) : rows;
  const turn = (column: number): void => {
    by.value = by.value?.column !== column ? { column, down: false } : by.value.down ? null : { column, down: true };
  };
  return (
    <div class="wide" tabIndex={0} role="region" aria-label="table">
      <table>
        <thead>
          <tr>
            {names.map((name, column) => {
              const own = by.value?.column === column ? by.value : null;
              return (
                <th key={column} scope="col" aria-sort={own ? (own.down ? "descending" : "ascending") : "none"}>
                  <button type="button" class="sorts" onClick={() => turn(column)}>{name}<span aria-hidden="true">{own ? (own.down ? " ↓" : " ↑") : ""}</span></button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>{sorted.map((row, index) => <tr key={index}>{names.map((_, column) => <td key={column}>{cell(row, column)}</td>)}</tr>)}</tbody>
      </table>
    </div>
  );
}

/** Numbers by their size, also with a unit or a sign of money; the rest as people sort words. */
export function compared(one: unknown, other: unknown): number {
  const [first, second] = [numberOf(one), numberOf(other)];
  if (first !== null && second !== null) return first - second;
  return String(one ?? "").localeCompare(String(other ?? ""), undefined, { numeric: true, sensitivity: "base" });
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  const found = /^\s*[^\d\s-]?\s*([+-]?\s?\d[\d,']*(?:\.\d+)?)\s*\S{0,6}\s*$/.exec(String(value ?? ""));
  return found?.[1] ? Number(found[1].replace(/[,'\s]/g, "")) : null;
}
