/** Something done to several sessions at once. */
import { type Signal, useSignal } from "@preact/signals";
import { problemOf, remove, type Problem } from "../api/client";
import type { SessionChange } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { count } from "../parts/words";
import { change, labelOf } from "../session/Marks";
import { base, sessions } from "../store/desk";

export function Several({ ids, picked }: { ids: readonly string[]; picked: Signal<ReadonlySet<string>> }) {
  const problem = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  const label = useSignal("");
  const each = async (act: (id: string) => Promise<unknown>): Promise<void> => {
    busy.value = true;
    problem.value = null;
    for (const id of picked.value) {
      try {
        await act(id);
      } catch (error) {
        problem.value = problemOf(error); // the others are done all the same
      }
    }
    busy.value = false;
    picked.value = new Set();
  };
  const say = (wish: SessionChange) => () => void each((id) => change(id, wish));
  const none = !picked.value.size || busy.value;
  const all = ids.length > 0 && ids.every((id) => picked.value.has(id));
  return (
    <div class="several" role="group" aria-label="Several sessions">
      <label class="option"><input type="checkbox" aria-label="Select all" checked={all} disabled={!ids.length} onChange={() => (picked.value = new Set(all ? [] : ids))} /> <span role="status">{picked.value.size ? `${count(picked.value.size, "session")} selected` : "all"}</span></label>
      <button type="button" disabled={none} onClick={say({ archived: true })}>Archive</button>
      <button type="button" disabled={none} onClick={say({ flag: true })}>Flag</button>
      <button type="button" disabled={none} onClick={say({ unread: false })}>Mark as read</button>
      <form onSubmit={(event) => {
        event.preventDefault();
        const labels = labelOf(label.value);
        if (labels) void each((id) => change(id, { labels })).then(() => (label.value = ""));
      }}><input aria-label="Label for all" placeholder="label" value={label.value} onInput={(event) => (label.value = event.currentTarget.value)} /></form>
      <button type="button" disabled={none} onClick={() => {
        if (confirm(`${count(picked.value.size, "session")} into the trash? They can be restored from there.`))
          void each(async (id) => {
            await remove(`${base.value}/sessions/${encodeURIComponent(id)}`);
            const left = new Map(sessions.value);
            left.delete(id);
            sessions.value = left;
          });
      }}>Into the trash</button>
      <Trouble problem={problem.value} />
    </div>
  );
}
