/** What a person says of a session: its title, status, labels, flag, note; and the way to the trash. */
import { useSignal } from "@preact/signals";
import { patch, remove } from "../api/client";
import type { Marks as Declared, SessionChange, SessionEntry } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { go } from "../shell/address";
import { base, sessions } from "../store/desk";

export async function change(id: string, wish: SessionChange): Promise<void> {
  const entry = await patch<SessionEntry>(`${base.value}/sessions/${encodeURIComponent(id)}`, wish);
  sessions.value = new Map(sessions.value).set(id, entry);
}

/** A label as it is typed: `name`, `name=value` or `name: value`. */
export function labelOf(words: string): Record<string, string> | null {
  const [name = "", ...value] = words.split(/[=:]/);
  return name.trim() ? { [name.trim()]: value.join(":").trim() } : null;
}

export function Marks({ entry, close }: { entry: SessionEntry; close: () => void }) {
  const declared = useAsked<Declared>(`${base.value}/marks`);
  const title = useSignal(entry.title);
  const note = useSignal(entry.note);
  const label = useSignal("");
  const { problem, act } = useDoing();
  const give = (wish: SessionChange): Promise<boolean> => act(() => change(entry.id, wish));
  const known = declared.found.value;
  return (
    <div class="marks">
      <label>Title <input dir="auto" value={title.value} onInput={(event) => (title.value = event.currentTarget.value)} onBlur={() => title.value.trim() && title.value !== entry.title && void give({ title: title.value.trim() })} /></label>
      {known && (
        <div class="filters" role="group" aria-label="Status">
          {known.statuses.map((one) => <button key={one.name} type="button" aria-pressed={entry.status === one.name} onClick={() => void give({ status: entry.status === one.name ? "" : one.name })}>{one.title ?? one.name}</button>)}
          <button type="button" aria-pressed={entry.flag} onClick={() => void give({ flag: !entry.flag })}><span aria-hidden="true">⚑ </span>flag</button>
        </div>
      )}
      <div class="made">
        {Object.entries(entry.labels).map(([name, value]) => (
          <button key={name} type="button" class="file" aria-label={`Take the label ${name} off`} onClick={() => void give({ labels: { [name]: null } })}>{value ? `${name}: ${value}` : name} ✕</button>
        ))}
        <form onSubmit={(event) => {
          event.preventDefault();
          const labels = labelOf(label.value);
          if (labels) void give({ labels }).then(() => (label.value = ""));
        }}>
          <input aria-label="Add a label" placeholder="label, or label=value" list={known?.labels ? "labels" : undefined} value={label.value} onInput={(event) => (label.value = event.currentTarget.value)} />
          {known?.labels && <datalist id="labels">{known.labels.map((one) => <option key={one.name} value={one.name} />)}</datalist>}
        </form>
      </div>
      <label>Note <textarea rows={2} dir="auto" value={note.value} onInput={(event) => (note.value = event.currentTarget.value)} onBlur={() => note.value !== entry.note && void give({ note: note.value })} /></label>
      <Trouble problem={problem.value} />
      <div class="choices">
        <button type="button" class="primary" onClick={close}>Done</button>
        <button type="button" onClick={() => void give({ archived: !entry.archived })}>{entry.archived ? "Out of the archive" : "Archive"}</button>
        <button type="button" onClick={() => {
          if (confirm("Into the trash? It can be restored from there."))
            void act(() => remove(`${base.value}/sessions/${encodeURIComponent(entry.id)}`).then(() => go("/sessions")));
        }}>Into the trash</button>
      </div>
    </div>
  );
}
