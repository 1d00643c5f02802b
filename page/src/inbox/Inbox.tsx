/** Home: what waits for me, what works now, what was last. Empty, it is three doors. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { askKey, Asked } from "../asks/Asked";
import { since, now, stateOf, count, money } from "../parts/words";
import { to } from "../shell/address";
import { base, listed, refresh, resting, sessions, STOPPED, waiting, working } from "../store/desk";
import type { QuestionAsked, SessionEntry } from "../api/made";
import type { Ask } from "../store/session";
import { Doors } from "../new/Doors";
import { folds, follow } from "./waiting";

const RECENT = 8;

export function Inbox() {
  useEffect(() => void refresh(), []);
  useEffect(() => {
    for (const entry of waiting.value.slice(0, 20)) void follow(base.value, entry);
  }, [waiting.value]);
  const stopped = resting.value.filter((one) => STOPPED.includes(one.state)).slice(0, 5);
  const keyed = waiting.value.find((one) => !one.questions.length); // a question is answered in its own fields
  const recent = resting.value.filter((one) => !stopped.includes(one)).slice(0, RECENT);
  if (!listed.value) return <div class="page"><p class="soft loading" role="status">looking…</p></div>;
  if (!sessions.value.size) return <div class="page inbox"><Doors /></div>;
  return (
    <div class="page inbox">
      <h1>{waiting.value.length ? (waiting.value.length === 1 ? "One thing waits for you" : `${waiting.value.length} sessions wait for you`) : "Nothing waits for you"}</h1>
      {waiting.value.length > 0 && (
        <section aria-label="Waiting for you" class="waits">
          {waiting.value.map((entry) => <Waits key={entry.id} entry={entry} first={entry === keyed} />)}
        </section>
      )}
      {stopped.length > 0 && <Rows title="Stopped" entries={stopped} />}
      {working.value.length > 0 && <Rows title="Working" entries={working.value} />}
      {recent.length > 0 && <Rows title="Recent" entries={recent} />}
      <p class="ends"><a class="button" href="/new">Begin something new</a> {sessions.value.size > RECENT && <a href="/sessions">All {count(sessions.value.size, "session")}</a>}</p>
    </div>
  );
}

function Waits({ entry, first }: { entry: SessionEntry; first: boolean }) {
  const asks: Ask[] = [...(folds.value.get(entry.id)?.asks ?? []), ...entry.questions.map((asked) => ({ kind: "question" as const, asked: asked as unknown as QuestionAsked }))];
  return (
    <article class="waits-card">
      <header>
        <h2 dir="auto"><a href={to("s", entry.id)}>{entry.title}</a></h2>
        <span class="soft">{entry.pipeline || "conversation"} · {since(entry.updated, now.value)}</span>
      </header>
      {asks.length ? asks.map((ask, index) => (
        <Asked key={askKey(ask)} ask={ask} base={base.value} session={entry.id} first={first && index === 0} />
      )) : entry.waits.map((text) => <p key={text} class="soft">{text}</p>)}
    </article>
  );
}

export function Rows({ title, entries }: { title: string; entries: readonly SessionEntry[] }) {
  return (
    <section aria-label={title}>
      <h2 class="label">{title}</h2>
      <ul class="rows">{entries.map((entry) => <Row key={entry.id} entry={entry} />)}</ul>
    </section>
  );
}

export function Row({ entry, before }: { entry: SessionEntry; before?: ComponentChildren }) {
  const state = stateOf(entry.state, "session");
  return (
    <li class={before ? "picks" : ""}>
      {before}
      <a class="row" href={to("s", entry.id)}>
        <span class={`state ${state.look}`}><span class="sign" aria-hidden="true">{state.sign}</span><span class="unseen">{state.word}</span></span>
        <span class={`title ${entry.unread ? "unread" : ""}`} dir="auto">{entry.flag && <><span aria-hidden="true">⚑ </span><span class="unseen">flagged: </span></>}{entry.title}{entry.unread && <span class="unseen"> (unread)</span>}</span>
        <span class="facts">
          {Object.entries(entry.labels).slice(0, 3).map(([name, value]) => <span key={name} class="tag">{value ? `${name}: ${value}` : name}</span>)}
          <span>{entry.pipeline || "conversation"}</span>
          {entry.steps > 0 && <Dots done={entry.done} steps={entry.steps} />}
          {entry.tokens > 0 && entry.usd !== 0 && <span>{money(entry.usd)}</span>}
          <time dateTime={entry.updated}>{since(entry.updated, now.value)}</time>
        </span>
      </a>
      {entry.problem && <p class="warning bad">{entry.problem}</p>}
    </li>
  );
}

export function Dots({ done, steps }: { done: number; steps: number }) {
  if (steps > 12) return <span>{done} of {steps}</span>;
  return (
    <span class="dots" role="img" aria-label={`${done} of ${steps} steps done`}>
      {Array.from({ length: steps }, (_, index) => <i key={index} class={index < done ? "full" : ""} />)}
    </span>
  );
}
