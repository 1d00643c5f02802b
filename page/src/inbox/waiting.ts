/** What the sessions that wait ask for: their logs, folded as the session's own page folds them. */
import { signal } from "@preact/signals";
import { get } from "../api/client";
import type { Event, LogPage, SessionEntry } from "../api/made";
import { SessionFold } from "../store/session";

export const folds = signal<ReadonlyMap<string, SessionFold>>(new Map());
const reading = new Set<string>();

/** Brings the fold of a session up to the number its entry has. */
export async function follow(base: string, entry: SessionEntry): Promise<void> {
  const known = folds.value.get(entry.id);
  if (reading.has(entry.id) || (known && known.seq >= entry.seq)) return;
  reading.add(entry.id);
  const fold = known ?? new SessionFold();
  try {
    for (;;) {
      const page = await get<LogPage>(`${base}/sessions/${encodeURIComponent(entry.id)}/log?after=${fold.seq}&limit=500`);
      for (const record of page.records) fold.apply(record.event as unknown as Event, Number(record.seq), String(record.at));
      if (!page.more) break;
    }
    folds.value = new Map(folds.value).set(entry.id, fold);
  } finally {
    reading.delete(entry.id);
  }
}
