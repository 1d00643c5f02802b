/** All sessions: filters that can be kept as views, words with their hits in context, several at once. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf, type Problem } from "../api/client";
import type { FoundSession, SessionList } from "../api/made";
import { Row } from "../inbox/Inbox";
import { Trouble } from "../parts/Trouble";
import { stateOf } from "../parts/words";
import { asking, go, place, query, to } from "../shell/address";
import { base, sessions } from "../store/desk";
import { Import } from "./Import";
import { Several } from "./Several";
import { Trash } from "./Trash";
import { Views } from "./Views";

export function Sessions() {
  return place.value.of === "trash" ? <Trash /> : <All />;
}

/** Sessions on one page of the list. */
const EACH = 100;
const FILTERS = ["q", "state", "pipeline", "label", "flag", "archived"] as const;

function All() {
  const q = query.value.get("q") ?? "";
  const state = query.value.get("state") ?? "";
  const at = Math.max(1, Number(query.value.get("page")) || 1);
  const asked = new URLSearchParams({ limit: String(EACH), offset: String((at - 1) * EACH) });
  for (const name of FILTERS) if (query.value.get(name)) asked.set(name, query.value.get(name) ?? "");
  const wanted = asked.toString();
  const found = useSignal<SessionList | null>(null);
  const problem = useSignal<Problem | null>(null);
  const picking = useSignal(false);
  const picked = useSignal<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const timer = setTimeout(() => {
      get<SessionList>(`${base.value}/sessions?${wanted}`).then(
        (list) => {
          found.value = list;
          problem.value = null;
        },
        (error: unknown) => (problem.value = problemOf(error)),
      );
    }, q ? 150 : 0);
    return () => clearTimeout(timer);
  }, [wanted, sessions.value]);
  const set = (name: string, value: string): void => go(asking({ [name]: value, page: "" }), true);
  const counts = Object.entries(found.value?.counts ?? {}).filter(([, number]) => number > 0).toSorted(([one], [other]) => rank(one) - rank(other));
  const shown = found.value?.sessions ?? [];
  const labels = [...new Set([...sessions.value.values()].flatMap((one) => Object.keys(one.labels)))].sort();
  const pipelines = [...new Set([...sessions.value.values()].map((one) => one.pipeline).filter(Boolean))].sort();
  const pick = (id: string): void => {
    const next = new Set(picked.value);
    if (!next.delete(id)) next.add(id);
    picked.value = next;
  };
  return (
    <div class="page sessions">
      <div class="title-line">
        <h1>Sessions</h1>
        <div class="choices">
          <button type="button" aria-pressed={picking.value} onClick={() => {
            picking.value = !picking.value;
            picked.value = new Set();
          }}>{picking.value ? "Done" : "Select"}</button>
          <Import />
        </div>
      </div>
      <input type="search" aria-label="Search in messages, documents and artifacts" placeholder="Search in messages, documents and artifacts" value={q} onInput={(event) => set("q", event.currentTarget.value)} />
      <div class="filters" role="group" aria-label="State">
        <button type="button" aria-pressed={!state} onClick={() => set("state", "")}>all</button>
        {counts.map(([name, number]) => (
          <button key={name} type="button" aria-pressed={state === name} onClick={() => set("state", state === name ? "" : name)}>
            <span aria-hidden="true">{stateOf(name, "session").sign} </span>{stateOf(name, "session").word} <span class="soft">{number}</span>
          </button>
        ))}
        <button type="button" aria-pressed={query.value.has("flag")} onClick={() => set("flag", query.value.has("flag") ? "" : "true")}><span aria-hidden="true">⚑ </span>flagged</button>
        <button type="button" aria-pressed={query.value.has("archived")} onClick={() => set("archived", query.value.has("archived") ? "" : "true")}>archived</button>
        {pipelines.length > 1 && (
          <select aria-label="Pipeline" value={query.value.get("pipeline") ?? ""} onChange={(event) => set("pipeline", event.currentTarget.value)}>
            <option value="">any pipeline</option>{pipelines.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        )}
        {labels.length > 0 && (
          <select aria-label="Label" value={query.value.get("label") ?? ""} onChange={(event) => set("label", event.currentTarget.value)}>
            <option value="">any label</option>{labels.map((one) => <option key={one} value={one}>{one}</option>)}
          </select>
        )}
      </div>
      <Views />
      {picking.value && <Several ids={shown.map((one) => one.session.id)} picked={picked} />}
      <Trouble problem={problem.value} />
      {found.value && !shown.length && (
        <p class="soft empty">{query.value.size ? "Nothing fits that." : "No sessions yet."} <a href="/new">Begin one</a></p>
      )}
      <ul class="rows">
        {shown.map((one) => <Found key={one.session.id} one={one} {...(picking.value ? { picked: picked.value.has(one.session.id), pick: () => pick(one.session.id) } : {})} />)}
      </ul>
      {(at > 1 || found.value?.more) && (
        <p class="ends">
          {at > 1 && <a class="button" href={asking({ page: String(at - 1) })}>Newer ones</a>} {found.value?.more && <a class="button" href={asking({ page: String(at + 1) })}>Older ones</a>}
        </p>
      )}
      <p class="soft small after-list"><a class="target" href="/sessions/trash">Trash</a></p>
    </div>
  );
}

/** What needs a person first, what is done with last. */
const ORDER = ["waiting", "working", "failed", "over_budget", "interrupted", "asleep", "left", "idle", "new", "done", "cancelled"];

function rank(state: string): number {
  return ORDER.indexOf(state) < 0 ? ORDER.length : ORDER.indexOf(state);
}

/** The same words of a document and of what was made from it are told once. */
function told(hits: FoundSession["hits"]): FoundSession["hits"] {
  const of = (hit: FoundSession["hits"][number]): string => `${hit.before.slice(-40)}${hit.found}${hit.after.slice(0, 20)}`.replace(/\s+/g, " ");
  return hits.filter((hit, index) => hits.findIndex((other) => of(other) === of(hit)) === index).slice(0, 3);
}

function Found({ one, picked, pick }: { one: FoundSession; picked?: boolean; pick?: () => void }) {
  return (
    <>
      <Row entry={one.session} {...(pick ? { before: <input type="checkbox" aria-label={`Select ${one.session.title}`} checked={picked} onChange={pick} /> } : {})} />
      {one.hits.length > 0 && (
        <li class="hits">
          {told(one.hits).map((hit, index) => (
            <a key={index} href={hit.kind === "artifact" ? to("s", one.session.id, "artifact", hit.name) : hit.seq ? to("s", one.session.id, "event", String(hit.seq)) : to("s", one.session.id)}>
              <span class="soft">{hit.kind === "artifact" ? hit.name : hit.kind}</span> {hit.before}<mark>{hit.found}</mark>{hit.after}
            </a>
          ))}
        </li>
      )}
    </>
  );
}
