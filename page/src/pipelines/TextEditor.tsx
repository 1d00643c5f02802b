/** A file of the workspace: its text, checked as one types, its problems at their lines. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { problemOf, put } from "../api/client";
import type { Problem, TextSaved } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { mayChange } from "../store/desk";

interface Props {
  readonly file: string;
  readonly text: string;
  readonly hash: string;
  readonly address: string;
  readonly check?: (text: string) => Promise<readonly Problem[]>;
  readonly problems: readonly Problem[];
  readonly saved: () => void;
}

export function TextEditor({ file, text, hash, address, check, problems, saved }: Props) {
  const draft = useSignal(text);
  const known = useSignal({ text, hash });
  const found = useSignal(problems);
  const { problem: trouble, act } = useDoing();
  const area = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (!check || draft.value === text) return;
    const timer = setTimeout(() => void check(draft.value).then((list) => (found.value = list), (error: unknown) => (trouble.value = problemOf(error))), 300);
    return () => clearTimeout(timer);
  }, [draft.value]);
  const save = (): void => void act(async () => {
    const kept = await put<TextSaved>(address, { text: draft.value, if: known.value.hash });
    known.value = { text: draft.value, hash: kept.hash };
    found.value = kept.problems;
    saved();
  });
  const show = (line: number): void => {
    const field = area.current;
    if (!field) return;
    const start = draft.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    field.focus();
    field.setSelectionRange(start, draft.value.indexOf("\n", start) < 0 ? draft.value.length : draft.value.indexOf("\n", start));
    field.scrollTop = (line - 6) * 20;
  };
  return (
    <div class="editor">
      <label class="soft mono" for="file">{file}</label>
      <textarea id="file" ref={area} spellcheck={false} rows={Math.min(24, Math.max(8, text.split("\n").length + 1))} readOnly={!mayChange.value} value={draft.value} onInput={(event) => (draft.value = event.currentTarget.value)} />
      <div role="status">
        {found.value.length > 0 ? (
          <ul class="problems">
            {found.value.map((one, index) => (
              <li key={index}>
                <button type="button" class="plain" onClick={() => show(one.line)}>line {one.line}</button>
                <span class="bad">✗ {one.message}</span> {one.key && <code>{one.key}</code>} <span class="soft">{one.hint}</span>
              </li>
            ))}
          </ul>
        ) : <p class="good"><span aria-hidden="true">✓ </span>no problems</p>}
      </div>
      <Trouble problem={trouble.value} />
      {mayChange.value && (
        <div class="choices">
          <button type="button" class="primary" disabled={draft.value === known.value.text} onClick={save}>Save</button>
          {draft.value !== known.value.text && <button type="button" onClick={() => (draft.value = known.value.text)}>Undo</button>}
        </div>
      )}
    </div>
  );
}
