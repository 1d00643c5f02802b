/** Edit in place: checked as one types, with the plan of what it would re-run, before anything is kept. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { command, post, problemOf, put, type Problem } from "../api/client";
import type { ArtifactText, EditSaved, PlanAnswer } from "../api/made";
import { PlanTable } from "../parts/PlanTable";
import { Trouble } from "../parts/Trouble";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

const WAIT_MS = 400;

export function ArtifactEditor({ open, name, text, step, saved }: { open: OpenSession; name: string; text: ArtifactText; step: string; saved: () => void }) {
  const draft = useSignal(text.text);
  const known = useSignal({ text: text.text, hash: text.hash });
  const answer = useSignal<PlanAnswer | null>(null);
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal("");
  const isChanged = draft.value !== known.value.text;
  const isKept = !isChanged && text.edited; // in its file, and no step's result yet

  useEffect(() => {
    const timer = setTimeout(() => {
      post<PlanAnswer>(at(open, "plan"), { edits: { [name]: draft.value } }).then(
        (found) => {
          answer.value = found;
          problem.value = null;
        },
        (error: unknown) => (problem.value = problemOf(error)),
      );
    }, WAIT_MS);
    return () => clearTimeout(timer);
  }, [draft.value]);

  const act = async (what: string, run: () => Promise<unknown>): Promise<void> => {
    busy.value = what;
    problem.value = null;
    try {
      await run();
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = "";
    }
  };
  const save = async (): Promise<void> => {
    const kept = await put<EditSaved>(at(open, "artifacts", name), { text: draft.value, if: known.value.hash });
    known.value = { text: draft.value, hash: kept.hash };
    saved();
  };
  const findings = answer.value?.findings ?? [];
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
      {problem.value && <Trouble problem={problem.value} />}
      {answer.value && (isChanged || isKept) && (
        <section aria-label="What a run would do then">
          <p class="label">What a run would do then</p>
          <PlanTable lines={answer.value.lines} notes={answer.value.notes} />
        </section>
      )}
      <div class="choices">
        <button type="button" class="primary" disabled={!isChanged || busy.value !== ""} onClick={() => void act("save", save)}>Save</button>
        {isChanged && <button type="button" onClick={() => (draft.value = known.value.text)}>Undo</button>}
        {step && (isKept || isChanged) && (
          <>
            <button
              type="button"
              disabled={busy.value !== "" || findings.length > 0}
              onClick={() => void act("accept", async () => {
                if (isChanged) await save();
                await command(open.base, open.id, { type: "accept_edit", step });
                saved();
              })}
            >
              Keep as {step}’s result
            </button>
            <button
              type="button"
              disabled={busy.value !== "" || findings.length > 0}
              onClick={() => void act("run", async () => {
                if (isChanged) await save();
                await command(open.base, open.id, { type: "start_run", accept: [step] });
                saved();
              })}
            >
              Keep it and run the rest
            </button>
          </>
        )}
      </div>
    </div>
  );
}
