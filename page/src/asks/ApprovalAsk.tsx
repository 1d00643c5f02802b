/** A tool call that waits for a person: exactly what it would do, why it asks, and four answers. */
import { useSignal } from "@preact/signals";
import { Trouble } from "../parts/Trouble";
import type { Call } from "../store/conversations";
import { type AskProps, useAnswering, useAnswerKeys } from "./answering";
import { CallInput } from "./CallInput";

export function ApprovalAsk({ base, session, call, first = false }: AskProps & { call: Call }) {
  const answering = useAnswering(base, session);
  const denying = useSignal(false);
  const why = useSignal("");
  const decide = (decision: "once" | "session" | "denied", reason = ""): void =>
    void answering.give({
      type: "decide_approval", conversation: call.conversation, call: call.call, decision, reason, turn: call.turn,
    });
  useAnswerKeys(first, (key) => {
    if (key === "y") decide("once");
    else if (key === "a" && call.key) decide("session");
    else if (key === "n") decide("denied");
    else if (key === "r") denying.value = true;
    else return false;
    return true;
  }, [call.call]);
  const key = (letter: string) => (first ? <kbd aria-hidden="true">{letter}</kbd> : null);
  return (
    <section class="ask" aria-label={`May ${call.tool} do this?`}>
      <p class="asked">May <strong>{call.tool}</strong> do this?</p>
      <CallInput call={call} />
      {call.reason && <p class="soft">{call.reason}</p>}
      {call.tainted && (
        <p class="warning"><span aria-hidden="true">! </span>The conversation holds content from outside: look twice at what this sends or changes.</p>
      )}
      <div class="choices">
        <button type="button" class="primary" disabled={answering.busy.value} onClick={() => decide("once")}>{key("y")}Allow once</button>
        {call.key && (
          <button type="button" disabled={answering.busy.value} title={`remembers: ${call.key}`} onClick={() => decide("session")}>
            {key("a")}Allow for this session
          </button>
        )}
        <button type="button" disabled={answering.busy.value} onClick={() => decide("denied")}>{key("n")}Deny</button>
        <button type="button" aria-expanded={denying.value} onClick={() => (denying.value = !denying.value)}>{key("r")}Deny and say why</button>
      </div>
      {call.key && <p class="soft small">“For this session” remembers: <code>{call.key}</code></p>}
      {denying.value && (
        <form
          class="amend"
          onSubmit={(event) => {
            event.preventDefault();
            decide("denied", why.value.trim());
          }}
        >
          <label for={`why-${call.call}`}>Why not? The model is told.</label>
          <input id={`why-${call.call}`} value={why.value} dir="auto" onInput={(event) => (why.value = event.currentTarget.value)} />
          <div class="choices"><button disabled={answering.busy.value}>Deny</button></div>
        </form>
      )}
      <Trouble problem={answering.problem.value} />
    </section>
  );
}
