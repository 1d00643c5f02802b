/** The same again, or with something set otherwise: what would be made again stands there before it is. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { PipelineShown, PlanAnswer } from "../api/made";
import { useAnswering } from "../asks/answering";
import { Opens } from "../parts/Opens";
import { ParameterFields } from "../parts/ParameterField";
import { PlanTable } from "../parts/PlanTable";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useSettled } from "../parts/useSettled";
import type { OpenSession } from "../store/open";
import type { Run } from "../store/run";
import { at } from "./addresses";

export function RunAgain({ run, open }: { run: Run; open: OpenSession }) {
  return <Opens title="Run it again" look="again"><Form run={run} open={open} /></Opens>;
}

function Form({ run, open }: { run: Run; open: OpenSession }) {
  const pipeline = useAsked<PipelineShown>(`${open.base}/pipelines/${encodeURIComponent(run.pipeline)}`);
  const from = useSignal("");
  const values = useSignal<Readonly<Record<string, unknown>>>({});
  const answering = useAnswering(open.base, open.id);
  const wish = { parameters: values.value, ...(from.value ? { start_from: from.value } : {}) };
  const { found: plan, problem } = useSettled(JSON.stringify(wish), () => post<PlanAnswer>(at(open, "plan"), wish));
  const fields = pipeline.found.value?.parameters.map((one) => ({ ...one, default: run.parameters[one.name] ?? one.default })) ?? [];
  const runs = plan.value?.lines.some((line) => line.action === "run") ?? false;
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      void answering.give({ type: "start_run", ...wish });
    }}>
      <p class="inline">
        <label for="again-from">Make</label>
        <select id="again-from" value={from.value} onChange={(event) => (from.value = event.currentTarget.value)}>
          <option value="">what is missing or has changed</option>
          {[...run.steps.keys()].filter((name) => !name.includes(".")).map((name) => <option key={name} value={name}>{name} and what comes after it</option>)}
        </select>
      </p>
      {fields.length > 0 && <div class="parameters"><ParameterFields id="again" fields={fields} values={values} /></div>}
      <Trouble problem={problem.value} />
      {plan.value && <PlanTable lines={plan.value.lines} notes={plan.value.notes} />}
      <div class="choices">
        <button class="primary" disabled={answering.busy.value || !runs}>Run it</button>
        {plan.value && !runs && <span class="soft">Everything is up to date.</span>}
      </div>
      <Trouble problem={answering.problem.value} />
    </form>
  );
}
