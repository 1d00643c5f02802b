/** A form from what a pipeline declares: its depths and its parameters. */
import type { Signal } from "@preact/signals";
import type { PipelineShort } from "../api/made";
import { ParameterFields } from "../parts/ParameterField";

interface Props {
  readonly pipeline: PipelineShort;
  readonly values: Signal<Readonly<Record<string, unknown>>>;
  readonly depth: Signal<string>;
}

export function Parameters({ pipeline, values, depth }: Props) {
  const depths = Object.keys(pipeline.depths);
  const own = pipeline.parameters.filter((one) => one.name !== "depth" || !depths.length);
  if (!own.length && !depths.length) return null;
  return (
    <div class="parameters">
      {depths.length > 0 && (
        <div class="filters" role="group" aria-label="Depth">
          <span class="label">Depth</span>
          {depths.map((one) => <button key={one} type="button" aria-pressed={depth.value === one} onClick={() => (depth.value = depth.value === one ? "" : one)}>{one}</button>)}
        </div>
      )}
      <ParameterFields id="p" fields={own} values={values} />
    </div>
  );
}
