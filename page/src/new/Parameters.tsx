/** A form from what a pipeline declares: its depths and its parameters. */
import type { Signal } from "@preact/signals";
import type { ParameterShown, PipelineShort } from "../api/made";

interface Props {
  readonly pipeline: PipelineShort;
  readonly values: Signal<Readonly<Record<string, unknown>>>;
  readonly depth: Signal<string>;
}

export function Parameters({ pipeline, values, depth }: Props) {
  const depths = Object.keys(pipeline.depths);
  const own = pipeline.parameters.filter((one) => one.name !== "depth" || !depths.length);
  if (!own.length && !depths.length) return null;
  const set = (name: string, value: unknown): void => {
    const rest = { ...values.value };
    if (value === undefined) delete rest[name];
    else rest[name] = value;
    values.value = rest;
  };
  return (
    <div class="parameters">
      {depths.length > 0 && (
        <div class="filters" role="group" aria-label="Depth">
          <span class="label">Depth</span>
          {depths.map((one) => <button key={one} type="button" aria-pressed={depth.value === one} onClick={() => (depth.value = depth.value === one ? "" : one)}>{one}</button>)}
        </div>
      )}
      {own.map((one) => (
        <div key={one.name} class="parameter">
          <label for={`p-${one.name}`}><strong>{one.name}</strong> <span class="soft">{one.description}</span></label>
          <Field one={one} value={values.value[one.name]} set={(value) => set(one.name, value)} />
        </div>
      ))}
    </div>
  );
}

function Field({ one, value, set }: { one: ParameterShown; value: unknown; set: (value: unknown) => void }) {
  const id = `p-${one.name}`;
  if (one.type === "boolean")
    return (
      <select id={id} value={value === undefined ? "" : String(value)} onChange={(event) => set(event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}>
        <option value="">{one.default ? "yes" : "no"} (as usual)</option><option value="true">yes</option><option value="false">no</option>
      </select>
    );
  if (one.choices.length)
    return (
      <select id={id} value={value === undefined ? "" : String(value)} onChange={(event) => set(one.choices.find((choice) => String(choice) === event.currentTarget.value))}>
        <option value="">{String(one.default)} (as usual)</option>
        {one.choices.map((choice) => <option key={String(choice)} value={String(choice)}>{String(choice)}</option>)}
      </select>
    );
  const number = one.type === "integer" || one.type === "number";
  const shown = { id, placeholder: `${one.default ?? ""}`, title: one.good, value: value === undefined ? "" : String(value) };
  return number
    ? <input type="number" {...shown} {...(one.minimum != null ? { min: one.minimum } : {})} {...(one.maximum != null ? { max: one.maximum } : {})} onInput={(event) => set(event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))} />
    : <input type="text" {...shown} onInput={(event) => set(event.currentTarget.value || undefined)} />;
}
