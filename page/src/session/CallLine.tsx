/** One call in a line that opens: what it was given, what came of it, and the calls inside it. */
import { useSignal } from "@preact/signals";
import { CallInput } from "../asks/CallInput";
import { Formatted } from "../parts/Formatted";
import { jsonOf } from "../parts/json";
import { callWords, humanMs, now, STATES } from "../parts/words";
import type { OpenSession } from "../store/open";
import type { Call } from "../store/conversations";
import { Activities } from "./TurnCard";

const OUTCOMES: Readonly<Record<string, string>> = {
  succeeded: "done", failed: "failed", denied: "failed", interrupted: "interrupted", interrupted_before_execution: "interrupted",
};
const LONG_LINES = 200;

export function CallLine({ call, rev, open }: { call: Call; rev: number; open: OpenSession }) {
  const shown = useSignal(false);
  const state = STATES[call.phase === "asked" ? "asks" : call.outcome ? (OUTCOMES[call.outcome] ?? "done") : "running"];
  const child = call.child ? open.fold.talk.conversations.get(call.child) : undefined;
  return (
    <li class={`call ${state?.look ?? ""}`}>
      <button type="button" class="line" aria-expanded={shown.value} onClick={() => (shown.value = !shown.value)}>
        <span class="sign" aria-hidden="true">{state?.sign}</span>
        <span class="unseen">{state?.word}: </span>
        <span class="tool">{call.tool}</span>
        <span class="about">{call.progress || callWords(call.input)}</span>
        <Took call={call} rev={rev} />
      </button>
      {shown.value && (
        <div class="opened">
          <CallInput call={call} />
          {child?.cards.map((card) => <Activities key={card.key} card={card} rev={rev} open={open} />)}
          {call.phase === "ended" && <Result call={call} />}
        </div>
      )}
    </li>
  );
}

function Took({ call }: { call: Call; rev: number }) {
  if (call.phase === "ended") return <span class="took">{call.ms === null ? "" : humanMs(call.ms)}</span>;
  if (call.phase === "asked") return <span class="took">asks</span>;
  const ms = now.value - Date.parse(call.startedAt);
  return <span class="took">{ms > 1500 ? humanMs(ms) : ""}</span>;
}

function Result({ call }: { call: Call }) {
  const whole = useSignal(false);
  const told = call.outcome === "denied" ? "denied" : call.outcome === "interrupted"
    ? (call.effect === "completed" ? "interrupted; it had just ended" : "interrupted; it may be done in part")
    : call.outcome === "interrupted_before_execution" ? "interrupted before it began" : "";
  const lines = call.text.split("\n");
  const cut = !whole.value && lines.length > LONG_LINES;
  const text = cut ? lines.slice(0, LONG_LINES).join("\n") : call.text;
  return (
    <>
      {told && <p class="warning"><span aria-hidden="true">! </span>{told}</p>}
      {!call.text.trim() ? <p class="soft">no output</p> : kindOf(call) === "diff" ? (
        <Formatted kind="code" language="diff" text={text} />
      ) : kindOf(call) === "json" ? (
        <Formatted kind="code" language="json" text={text} />
      ) : (
        <pre class={`result ${kindOf(call)}`} tabIndex={0} dir="auto">{text}</pre>
      )}
      {cut && (
        <button type="button" class="plain" onClick={() => (whole.value = true)}>
          Show all {lines.length.toLocaleString("en")} lines
        </button>
      )}
    </>
  );
}

function kindOf(call: Call): "terminal" | "diff" | "json" | "text" {
  if (/^--- .*\n\+\+\+ .*\n@@ /m.test(call.text)) return "diff";
  if (typeof call.input.command === "string") return "terminal";
  return /^\s*[[{]/.test(call.text) && call.text.length < 50_000 && jsonOf(call.text) !== undefined ? "json" : "text";
}
