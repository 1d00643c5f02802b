/** All sessions: filters, words with their hits in context. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf, type Problem } from "../api/client";
import type { FoundSession, SessionList } from "../api/made";
import { Row } from "../inbox/Inbox";
import { Trouble } from "../parts/Trouble";
import { stateOf } from "../parts/words";
import { go, place, query, to } from "../shell/address";
import { Trash } from "./Trash";
import { base, sessions } from "../store/desk";

export function Sessions() {
  return place.value.of === "trash" ? <Trash /> : <All />;
}

function All() {
  const q = query.value.get("q") ?? "";
  const state = query.value.get("state") ?? "";
  const found = useSignal<SessionList | null>(null);
  const problem = useSignal<Problem | null>(null);
  useEffect(() => {
    const asked = new URLSearchParams({ limit: "200", ...(q ? { q } : {}), ...(state ? { state } : {}) });
    const timer = setTimeout(() => {
      get<SessionList>(`${base.value}/sessions?${asked}`).then(
        (list) => {
          found.value = list;
          problem.value = null;
        },
        (error: unknown) => (problem.value = problemOf(error)),
      );
    }, q ? 150 : 0);
    return () => clearTimeout(timer);
  }, [q, state, sessions.value]);
  const set = (name: string, value: string): void => {
    const asked = new URLSearchParams(query.value);
    if (value) asked.set(name, value);
    else asked.delete(name);
    go(`/sessions${asked.size ? `?${asked}` : ""}`, true);
  };
  const counts = Object.entries(found.value?.counts ?? {}).filter(([, number]) => number > 0);
  return (
    <div class="page sessions">
      <h1>Sessions</h1>
      <input type="search" aria-label="Search in messages, documents and artifacts" placeholder="Search in messages, documents and artifacts" value={q} onInput={(event) => set("q", event.currentTarget.value)} />
      <div class="filters" role="group" aria-label="State">
        <button type="button" aria-pressed={!state} onClick={() => set("state", "")}>all</button>
        {counts.map(([name, number]) => (
          <button key={name} type="button" aria-pressed={state === name} onClick={() => set("state", state === name ? "" : name)}>
            <span aria-hidden="true">{stateOf(name, "session").sign} </span>{stateOf(name, "session").word} <span class="soft">{number}</span>
          </button>
        ))}
      </div>
      {problem.value && <Trouble problem={problem.value} />}
      {found.value && !found.value.sessions.length && (
        <p class="soft empty">{q || state ? "Nothing fits that." : "No sessions yet."} <a href="/new">Begin one</a></p>
      )}
      <ul class="rows">
        {found.value?.sessions.map((one) => <Found key={one.session.id} one={one} />)}
      </ul>
      <p class="soft small"><a class="target" href="/sessions/trash">Trash</a></p>
      {found.value?.more && <p class="soft">There are more: narrow it down with a word.</p>}
    </div>
  );
}

function Found({ one }: { one: FoundSession }) {
  return (
    <>
      <Row entry={one.session} />
      {one.hits.length > 0 && (
        <li class="hits">
          {one.hits.slice(0, 3).map((hit, index) => (
            <a key={index} href={hit.seq ? to("s", one.session.id, "event", String(hit.seq)) : to("s", one.session.id)}>
              <span class="soft">{hit.kind}</span> {hit.before}<mark>{hit.found}</mark>{hit.after}
            </a>
          ))}
        </li>
      )}
    </>
  );
}
