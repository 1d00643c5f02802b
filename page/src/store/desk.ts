/** What the whole page knows: who is here, which workspace, and the list of its sessions, live. */
import { computed, signal } from "@preact/signals";
import { get, problemOf, type Problem } from "../api/client";
import type { Me, SessionEntry } from "../api/made";
import { Stream } from "../api/stream";

export const me = signal<Me | null>(null);
/** What the person may do here: answer, begin runs, change what others use. */
export const mayAnswer = computed(() => me.value?.role !== "look");
export const mayRun = computed(() => me.value?.role === "run" || me.value?.role === "administer");
export const mayChange = computed(() => me.value?.role === "administer");
export const trouble = signal<Problem | null>(null);
export const workspace = signal("");
export const base = computed(() => `/api/w/${encodeURIComponent(workspace.value)}`);
export const sessions = signal<ReadonlyMap<string, SessionEntry>>(new Map());
/** The first whole list is here. */
export const listed = signal(false);
export const list = signal<Stream | null>(null);

export const bySeen = computed(() => [...sessions.value.values()].filter((one) => !one.archived).sort(byUpdated));
export const waiting = computed(() => bySeen.value.filter((one) => one.state === "waiting"));
export const working = computed(() => bySeen.value.filter((one) => one.state === "working"));
export const stopped = computed(() => bySeen.value.filter((one) => STOPPED.includes(one.state)));
export const resting = computed(() => bySeen.value.filter((one) => one.state !== "waiting" && one.state !== "working"));

export const STOPPED: readonly string[] = ["failed", "over_budget", "interrupted"];

function byUpdated(one: SessionEntry, other: SessionEntry): number {
  return other.updated < one.updated ? -1 : other.updated > one.updated ? 1 : 0;
}

export async function begin(): Promise<void> {
  try {
    me.value = await get<Me>("/api/me");
    trouble.value = null;
  } catch (error) {
    trouble.value = problemOf(error);
    setTimeout(() => void begin(), 2000);
    return;
  }
  const names = me.value.workspaces.map((one) => one.name);
  const kept = localStorage.getItem("weft.workspace") ?? "";
  choose(names.includes(kept) ? kept : (names[0] ?? ""));
}

export function choose(name: string): void {
  if (name === workspace.value) return;
  list.value?.stop();
  workspace.value = name;
  localStorage.setItem("weft.workspace", name);
  sessions.value = new Map();
  listed.value = false;
  void refresh();
  list.value = new Stream(() => `${base.value}/events`, takeList);
}

/** Goes to the workspace that has a session: an address says which session, not whose. */
export async function chooseWhereItIs(id: string): Promise<boolean> {
  for (const { name } of me.value?.workspaces ?? []) {
    if (name === workspace.value) continue;
    try {
      await get<SessionEntry>(`/api/w/${encodeURIComponent(name)}/sessions/${encodeURIComponent(id)}`);
    } catch {
      continue;
    }
    choose(name);
    return true;
  }
  return false;
}

/** Makes the server look at every log once; what changes later comes by itself. */
export async function refresh(): Promise<void> {
  try {
    const found = await get<{ sessions: readonly { session: SessionEntry }[] }>(`${base.value}/sessions?limit=500`);
    const fresh = new Map(sessions.value);
    for (const one of found.sessions) fresh.set(one.session.id, one.session);
    sessions.value = fresh;
    listed.value = true;
  } catch (error) {
    trouble.value = problemOf(error);
  }
}

/** One entry as it is now. */
export async function look(id: string): Promise<void> {
  try {
    const entry = await get<SessionEntry>(`${base.value}/sessions/${encodeURIComponent(id)}`);
    sessions.value = new Map(sessions.value).set(id, entry);
  } catch {
    // the session's own page says what is wrong with it
  }
}

function takeList(sent: readonly { event: string; data: unknown }[]): void {
  let fresh: Map<string, SessionEntry> | null = null;
  for (const one of sent) {
    if (one.event === "session") {
      fresh ??= new Map(sessions.value);
      const entry = one.data as SessionEntry;
      fresh.set(entry.id, entry);
    } else if (one.event === "left") {
      const left = new Set(one.data as string[]);
      fresh = new Map([...(fresh ?? sessions.value)].filter(([id]) => left.has(id)));
    }
  }
  if (fresh) sessions.value = fresh;
  trouble.value = null;
}
