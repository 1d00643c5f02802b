/** A run that has reached its budget: how much more it may take. */
import { useSignal } from "@preact/signals";
import type { Answering } from "../asks/answering";

const UNITS = { usd: "dollars", tokens: "tokens", minutes: "minutes" } as const;

/** `told` says which limit was reached. */
export function MoreBudget({ answering, told }: { answering: Answering; told: string }) {
  const most = useSignal("");
  const unit = useSignal<keyof typeof UNITS>(told.includes("token") ? "tokens" : told.includes("minute") ? "minutes" : "usd");
  return (
    <form class="inline more-budget" onSubmit={(event) => {
      event.preventDefault();
      void answering.give({ type: "start_run", budget: { [unit.value]: Number(most.value) } });
    }}>
      <label for="most">All in all it may take</label>
      <input id="most" class="few" type="number" min="0" step="any" required value={most.value} onInput={(event) => (most.value = event.currentTarget.value)} />
      <select aria-label="Of what" value={unit.value} onChange={(event) => (unit.value = event.currentTarget.value as keyof typeof UNITS)}>
        {Object.entries(UNITS).map(([name, word]) => <option key={name} value={name}>{word}</option>)}
      </select>
      <button class="primary" disabled={answering.busy.value || !(Number(most.value) > 0)}>Go on</button>
    </form>
  );
}
