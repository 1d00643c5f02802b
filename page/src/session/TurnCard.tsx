/** An answer: its activities in one line that opens, then the words, as they are written. */
import { useSignal } from "@preact/signals";
import { ApprovalAsk } from "../asks/ApprovalAsk";
import { Formatted } from "../parts/Formatted";
import { InlineCode } from "../parts/InlineCode";
import { count, humanMs, now, tokens } from "../parts/words";
import type { OpenSession } from "../store/open";
import type { Call, Card } from "../store/conversations";
import { CallLine } from "./CallLine";
import { Fork } from "./Fork";
import { TodoList } from "./TodoList";

export function TurnCard({ card, rev, open }: { card: Card; rev: number; open: OpenSession }) {
  const live = card.live?.text ?? "";
  const asked = asksIn(card, open);
  return (
    <article class={`card ${card.open && !open.left.value ? "open" : ""} ${card.undone ? "undone" : ""}`} id={`e${card.seq}`} aria-busy={card.open}>
      <Activities card={card} rev={rev} open={open} />
      {asked.map((call) => (
        <ApprovalAsk key={`${call.conversation}/${call.call}`} base={open.base} session={open.id} call={call} first={isFirst(call, open)} />
      ))}
      {card.todo && <TodoList text={card.todo} />}
      {live ? <Formatted text={live} live /> : card.answer ? <Formatted text={card.answer} /> : null}
      {card.open && open.left.value ? <p class="warning"><span aria-hidden="true">! </span>Whatever ran this has ended in the middle of it. Say something, and it goes on from here.</p>
        : card.open && !live && !asked.length && !open.fold.questions.size && <Waits card={card} rev={rev} />}
      {!card.open && card.outcome === "failed" && (
        <p class="warning bad"><span aria-hidden="true">✗ </span><InlineCode text={card.why || "the model call failed"} />. Say it again to try once more.</p>
      )}
      {!card.open && card.outcome === "interrupted" && <p class="warning"><span aria-hidden="true">! </span>{card.why}</p>}
      {!card.open && card.answer && <Foot card={card} open={open} />}
    </article>
  );
}

function Foot({ card, open }: { card: Card; open: OpenSession }) {
  const copied = useSignal(false);
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(card.answer);
    copied.value = true;
    setTimeout(() => (copied.value = false), 1500);
  };
  return (
    <footer>
      <span>{[card.model, card.tokens ? tokens(card.tokens) : "", card.ms ? humanMs(card.ms) : ""].filter(Boolean).join(" · ")}</span>
      <span>
        <Fork open={open} after={() => endOf(card, open)} />
        <button type="button" class="plain" onClick={() => void copy()}>{copied.value ? "Copied" : "Copy"}</button>
      </span>
    </footer>
  );
}

/** The last event before what came next. */
function endOf(card: Card, open: OpenSession): number {
  const { items, seq } = open.fold;
  const next = items.slice(items.indexOf(card) + 1).find((one) => one.seq > card.seq);
  return next ? next.seq - 1 : seq;
}

function Waits({ card }: { card: Card; rev: number }) {
  const ms = now.value - Date.parse(card.at);
  const words = card.retry || (card.live?.thinking ? "thinking" : "working");
  return <p class="working" role="status">{words}{ms > 2000 ? <span class="took"> {humanMs(ms)}</span> : null}</p>;
}

/** Its keys work: it is the first that waits. */
function isFirst(call: Call, open: OpenSession): boolean {
  const [first] = open.fold.asks;
  return first?.kind === "approval" && first.call === call;
}

/** Calls of this answer and of the conversations inside it that wait for a person. */
function asksIn(card: Card, open: OpenSession): Call[] {
  const found: Call[] = [];
  for (const part of card.parts) {
    if (part.kind !== "call") continue;
    if (part.call.phase === "asked") found.push(part.call);
    const child = part.call.child ? open.fold.talk.conversations.get(part.call.child) : undefined;
    for (const inner of child?.cards ?? []) found.push(...asksIn(inner, open));
  }
  return found;
}

export function Activities({ card, rev, open }: { card: Card; rev: number; open: OpenSession }) {
  const shown = useSignal(false);
  if (!card.parts.length) return null;
  const calls = card.parts.filter((part) => part.kind === "call").map((part) => part.call);
  const running = calls.findLast((call) => call.phase === "running");
  const failed = calls.filter((call) => call.outcome === "failed" || call.outcome === "denied").length;
  const ms = calls.reduce((sum, call) => sum + (call.ms ?? 0), 0);
  const head = [
    calls.length ? count(calls.length, "call") : card.parts.some((part) => part.kind === "thought") ? "thought" : "on the way",
    failed ? `${failed} failed` : "", ms ? humanMs(ms) : "",
  ].filter(Boolean).join(" · ");
  return (
    <div class="activities">
      <button type="button" class="line" aria-expanded={shown.value} onClick={() => (shown.value = !shown.value)}>
        <span class="chevron" aria-hidden="true">{shown.value ? "▾" : "▸"}</span>
        <span>{head}</span>
        {running && !shown.value && <span class="about">{running.tool} {running.progress}</span>}
      </button>
      {shown.value && (
        <ul>
          {card.parts.map((part, index) =>
            part.kind === "call" ? <CallLine key={part.call.call} call={part.call} rev={rev} open={open} /> : (
              <li key={index} class={part.kind}>
                {part.kind === "thought" ? <details><summary>thought</summary><p dir="auto">{part.text}</p></details> : <Formatted text={part.text} />}
              </li>
            ))}
        </ul>
      )}
    </div>
  );
}
