/** JSON as a tree that opens. A long text shows its beginning until all of it is asked for. */
import { useSignal } from "@preact/signals";

const LONG = 600;

export function JsonTree({ value, name, depth = 0 }: { value: unknown; name?: string; depth?: number }) {
  const label = name === undefined ? null : <span class="key">{name}: </span>;
  if (typeof value === "string" && value.length > LONG) return <div class="leaf">{label}<Long text={value} /></div>;
  if (typeof value !== "object" || value === null)
    return <div class="leaf">{label}<span class={`value ${value === null ? "null" : typeof value}`}>{JSON.stringify(value)}</span></div>;
  const entries = Object.entries(value);
  const size = Array.isArray(value) ? `[${entries.length}]` : `{${entries.length}}`;
  if (!entries.length) return <div class="leaf">{label}<span class="soft">{Array.isArray(value) ? "[]" : "{}"}</span></div>;
  return (
    <details class="branch" open={depth < 2 && entries.length < 60}>
      <summary>{label}<span class="soft">{size}</span></summary>
      {entries.map(([key, one]) => <JsonTree key={key} name={key} value={one} depth={depth + 1} />)}
    </details>
  );
}

function Long({ text }: { text: string }) {
  const whole = useSignal(false);
  return (
    <span class="value string">
      {JSON.stringify(whole.value ? text : `${text.slice(0, LONG / 2)}…`)}{" "}
      {!whole.value && <button type="button" class="plain" onClick={() => (whole.value = true)}>all {text.length.toLocaleString("en")} characters</button>}
    </span>
  );
}
