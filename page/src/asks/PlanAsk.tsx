/** What a model would do: yes, yes and forget the way to it, otherwise in words, or not at all. */
import { useSignal } from "@preact/signals";
import { Formatted } from "../parts/Formatted";
import { Trouble } from "../parts/Trouble";
import type { Plan } from "../store/session";
import { type AskProps, useAnswering } from "./answering";

const DECIDED: Readonly<Record<NonNullable<Plan["decision"]>, string>> = {
  accepted: "accepted", compacted: "accepted; it stands for what was said before", amended: "to be made otherwise", dropped: "dropped", replaced: "another one took its place",
};

export function PlanAsk({ base, session, plan }: AskProps & { plan: Plan }) {
  const answering = useAnswering(base, session);
  const amending = useSignal(false);
  const words = useSignal("");
  const decide = (decision: "accepted" | "compacted" | "amended" | "dropped", text = ""): void =>
    void answering.give({ type: "decide_plan", plan: plan.plan, decision, text });
  if (plan.decision)
    return (
      <details class="plan decided">
        <summary><span class="label">Plan</span> <span class="soft">{DECIDED[plan.decision]}</span></summary>
        <Formatted text={plan.text} />
      </details>
    );
  return (
    <section class="ask plan" aria-label="A plan">
      <p class="asked">Shall it be done like this?</p>
      <Formatted text={plan.text} />
      <div class="choices">
        <button type="button" class="primary" disabled={answering.busy.value} onClick={() => decide("accepted")}>Accept</button>
        <button type="button" disabled={answering.busy.value} title="The model goes on with the plan alone, with more room for the work" onClick={() => decide("compacted")}>Accept and compact</button>
        <button type="button" aria-expanded={amending.value} onClick={() => (amending.value = !amending.value)}>Change it</button>
        <button type="button" disabled={answering.busy.value} onClick={() => decide("dropped")}>Drop it</button>
      </div>
      {amending.value && (
        <form
          class="amend"
          onSubmit={(event) => {
            event.preventDefault();
            if (words.value.trim()) decide("amended", words.value.trim());
          }}
        >
          <label for={`amend-${plan.plan}`}>What should be different?</label>
          <textarea id={`amend-${plan.plan}`} rows={3} dir="auto" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
          <div class="choices"><button class="primary" disabled={answering.busy.value || !words.value.trim()}>Plan it again</button></div>
        </form>
      )}
      <Trouble problem={answering.problem.value} />
    </section>
  );
}
