/** Edit in place: checked as one types, with the plan of what it would re-run, before anything is kept. */
import { useSignal } from "@preact/signals";
import { command, post, put } from "../api/client";
import type { ArtifactText, Command, EditSaved, PlanAnswer } from "../api/made";
import { PlanTable } from "../parts/PlanTable";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { useSettled } from "../parts/useSettled";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

export function ArtifactEditor({ open, name, text, step, saved }: { open: OpenSession; name: string; text: ArtifactText; step: string; saved: () => void }) {
  const draft = useSignal(text.text);
  const known = useSignal({ text: text.text, hash: text.hash });
  const { found: answer, problem: untold } = useSettled(draft.value, () => post<PlanAnswer>(at(open, "plan"), { edits: { [name]: draft.value } }));
  const { busy, problem, act } = useDoing();
  const isChanged = draft.value !== known.value.text;
  const isKept = !isChanged && text.edited; // in its file, and no step's result yet
  const save = async (): Promise<void> => {
    const kept = await put<EditSaved>(at(open, "artifacts", name), { text: draft.value, if: known.value.hash });
    known.value = { text: draft.value, hash: kept.hash };
    saved();
  };
  const keep = (also: Command) => () => void act(async () => {
    if (isChanged) await save();
    await command(open.base, open.id, also);
    saved();
  });
  const findings = answer.value?.findings ?? [];
  const wrong = problem.value ?? untold.value;
  return (
    <div class="editor">
      <label class="unseen" for="edit">The text of {name}</label>
      <textarea id="edit" spellcheck={false} dir="auto" rows={22} value={draft.value} onInput={(event) => (draft.value = event.currentTarget.value)} />
      <div class="checked" role="status">
        {findings.length > 0 ? (
          <div class="findings">
            <p class="label">Not as its step needs it</p>
            <ul>{findings.map((one, index) => <li key={index}>{one.at && <code>{one.at}</code>} {one.message} <span class="soft">{one.hint}</span></li>)}</ul>
          </div>
        ) : answer.value && <p class="good"><span aria-hidden="true">✓ </span>It fits its schema and checks.</p>}
      </div>
      <Trouble problem={wrong} />
      {answer.value && (isChanged || isKept) && (
        <section aria-label="What a run would do then">
          <p class="label">What a run would do then</p>
          <PlanTable lines={answer.value.lines} notes={answer.value.notes} />
        </section>
      )}
      <div class="choices">
        <button type="button" class="primary" disabled={!isChanged || busy.value} onClick={() => void act(save)}>Save</button>
        {isChanged && <button type="button" onClick={() => (draft.value = known.value.text)}>Undo</button>}
        {step && (isKept || isChanged) && (
          <>
            <button type="button" disabled={busy.value || findings.length > 0} onClick={keep({ type: "accept_edit", step })}>Keep as {step}’s result</button>
            <button type="button" disabled={busy.value || findings.length > 0} onClick={keep({ type: "start_run", accept: [step] })}>Keep it and run the rest</button>
          </>
        )}
      </div>
    </div>
  );
}
