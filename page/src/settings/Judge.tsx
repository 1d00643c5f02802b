/** What would a command get? The same rules that judge a model's calls. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { post, problemOf, type Problem } from "../api/client";
import type { CallJudged, CallToJudge } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { base } from "../store/desk";

const MODES = ["plan", "safe", "ask", "edits", "auto"] as const;
const SIGNS: Readonly<Record<string, [string, string]>> = { allow: ["✓ allowed", "good"], ask: ["? asks you", "warn"], deny: ["✗ denied", "bad"] };

export function Judge() {
  const subject = useSignal("");
  const mode = useSignal<NonNullable<CallToJudge["mode"]>>("ask");
  const found = useSignal<CallJudged | null>(null);
  const problem = useSignal<Problem | null>(null);
  useEffect(() => {
    if (!subject.value.trim()) {
      found.value = null;
      return;
    }
    const timer = setTimeout(() => {
      post<CallJudged>(`${base.value}/permissions/judge`, { subject: subject.value, mode: mode.value }).then(
        (judged) => {
          found.value = judged;
          problem.value = null;
        },
        (error: unknown) => (problem.value = problemOf(error)),
      );
    }, 250);
    return () => clearTimeout(timer);
  }, [subject.value, mode.value]);
  const told = found.value ? SIGNS[found.value.decision] : undefined;
  return (
    <section aria-label="Permissions">
      <h2 class="label">What would this command get?</h2>
      <input class="mono" aria-label="A command" placeholder="git push origin main" value={subject.value} onInput={(event) => (subject.value = event.currentTarget.value)} />
      <div class="filters" role="group" aria-label="Mode">
        {MODES.map((one) => <button key={one} type="button" aria-pressed={mode.value === one} onClick={() => (mode.value = one)}>{one}</button>)}
      </div>
      {problem.value && <Trouble problem={problem.value} />}
      {found.value && (
        <p role="status"><strong class={told?.[1] ?? ""}>{told?.[0] ?? found.value.decision}</strong> {found.value.reason}
          <span class="soft"> {[found.value.rule, found.value.file, found.value.needs.length ? `needs ${found.value.needs.join(", ")}` : ""].filter(Boolean).join(" · ")}</span></p>
      )}
    </section>
  );
}
