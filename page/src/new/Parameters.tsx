/** A form from what a pipeline declares: its depths and its parameters. */
import type { Signal } from "@preact/signals";
import type { PipelineShort } from "../api/made";
import { ParameterField } from "../parts/ParameterField";

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
          <ParameterField id={`p-${one.name}`} one={one} value={values.value[one.name]} set={(value) => set(one.name, value)} />
        </div>
      ))}
    </div>
  );
}
