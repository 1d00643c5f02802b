/** A value of an artifact as a person reads it: no braces, no quotes. */
import { createContext, type ComponentChildren } from "preact";
import { useContext } from "preact/hooks";
import { SortTable } from "../parts/SortTable";

/** Where a text stands in a source, or null; what it is depends on where the value is shown. */
export const Sourced = createContext<{ quote(text: string): string | null; span(start: number, end: number): string | null }>({
  quote: () => null,
  span: () => null,
});

export function Value({ value, depth = 0 }: { value: unknown; depth?: number }): ComponentChildren {
  if (value === null || value === undefined || value === "") return <span class="soft">none</span>;
  if (typeof value === "boolean") return <>{value ? "yes" : "no"}</>;
  if (typeof value === "number") return <>{String(value)}</>;
  if (typeof value === "string")
    return <>{value.split(/\n{2,}/).map((part, index) => <p key={index} dir="auto">{part}<Quoted text={part} /></p>)}</>;
  if (areSpans(value)) return <Spans spans={value} />;
  if (Array.isArray(value)) return <List values={value} depth={depth} />;
  return (
    <dl class="fields">
      {Object.entries(value as object).map(([name, one]) => (
        <div key={name} class={isShort(one) ? "short" : ""}>
          <dt>{nameWords(name)}</dt>
          <dd><Value value={one} depth={depth + 1} /></dd>
        </div>
      ))}
    </dl>
  );
}

/** Places in the document, from and to: what `evidence` is in every artifact of the house. */
function areSpans(value: unknown): value is readonly [number, number][] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => Array.isArray(one) && one.length === 2 && one.every((number) => Number.isInteger(number)));
}

function Spans({ spans }: { spans: readonly [number, number][] }) {
  const { span } = useContext(Sourced);
  return <>{spans.map(([start, end], index) => {
    const href = span(start, end);
    return href ? <a key={index} class="quoted" href={href} title="the passage it comes from"><span aria-hidden="true">❝</span> {index + 1}</a> : <span key={index}>{start}–{end} </span>;
  })}</>;
}

function Quoted({ text }: { text: string }) {
  const href = useContext(Sourced).quote(text);
  return href ? <> <a class="quoted" href={href} title="stands in the source word for word"><span aria-hidden="true">❝</span><span class="unseen">its place in the source</span></a></> : null;
}

function List({ values, depth }: { values: readonly unknown[]; depth: number }) {
  if (!values.length) return <span class="soft">none</span>;
  const rows = tableOf(values);
  if (rows)
    return (
      <SortTable
        names={rows.map(nameWords)}
        rows={values as readonly Record<string, unknown>[]}
        value={(row, column) => row[rows[column] ?? ""]}
        cell={(row, column) => <Value value={row[rows[column] ?? ""]} />}
      />
    );
  if (values.every((one) => typeof one !== "object"))
    return <ul class="points">{values.map((one, index) => <li key={index} dir="auto">{String(one)}<Quoted text={String(one)} /></li>)}</ul>;
  return <ol class="records">{values.map((one, index) => <li key={index}><Value value={one} depth={depth + 1} /></li>)}</ol>;
}

/** Rows of short values with the same names are a table. */
function tableOf(values: readonly unknown[]): string[] | null {
  const first = values[0];
  if (values.length < 2 || typeof first !== "object" || first === null || Array.isArray(first)) return null;
  const names = Object.keys(first);
  if (names.length < 2 || names.length > 6) return null;
  const fits = values.every(
    (row) => typeof row === "object" && row !== null && Object.keys(row).every((name) => names.includes(name)) &&
      Object.values(row).every((one) => typeof one !== "object" && String(one).length < 60),
  );
  return fits ? names : null;
}

function isShort(value: unknown): boolean {
  return typeof value !== "object" && String(value).length < 60;
}

/** `importantQuotes` and `rests_on` as words. */
export function nameWords(name: string): string {
  const words = name.replace(/_/g, " ").replace(/([a-z\d])([A-Z])/g, "$1 $2");
  return words === name.toUpperCase() ? words : words.charAt(0).toUpperCase() + words.slice(1).toLowerCase();
}
