/** What would a command get? The same rules that judge a model's calls. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { CallJudged, CallToJudge } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useSettled } from "../parts/useSettled";
import { MODES } from "../session/Settled";
import { base } from "../store/desk";

const SIGNS: Readonly<Record<string, [string, string]>> = { allow: ["✓ allowed", "good"], ask: ["? asks you", "warn"], deny: ["✗ denied", "bad"] };

export function Judge() {
  const subject = useSignal("");
  const mode = useSignal<NonNullable<CallToJudge["mode"]>>("ask");
  const call = { subject: subject.value, mode: mode.value };
  const asked = call.subject.trim() !== "";
  const { found, problem } = useSettled(asked ? JSON.stringify(call) : null, () => post<CallJudged>(`${base.value}/permissions/judge`, call));
  const judged = asked ? found.value : null;
  const told = judged ? SIGNS[judged.decision] : undefined;
  return (
    <section aria-label="Permissions">
      <h2 class="label">May a model run this command?</h2>
      <input class="mono" aria-label="A command" placeholder="git push origin main" value={subject.value} onInput={(event) => (subject.value = event.currentTarget.value)} />
      <div class="filters" role="group" aria-label="Mode">
        {(Object.keys(MODES) as (keyof typeof MODES)[]).map((one) => <button key={one} type="button" aria-pressed={mode.value === one} onClick={() => (mode.value = one)}>{one}</button>)}
      </div>
      <p class="soft small">In the mode {mode.value}: {MODES[mode.value]}.</p>
      <Trouble problem={problem.value} />
      {judged && (
        <p role="status"><strong class={told?.[1] ?? ""}>{told?.[0] ?? judged.decision}</strong> {judged.reason}
          <span class="soft"> {[judged.rule, judged.file, judged.needs.length ? `needs ${judged.needs.join(", ")}` : ""].filter(Boolean).join(" · ")}</span></p>
      )}
    </section>
  );
}
