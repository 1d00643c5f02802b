/** A gate: what it asks, what it asks about, its choices, and a field for words. */
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import type { ParameterShown } from "../api/made";
import { ParameterFields } from "../parts/ParameterField";
import { Trouble } from "../parts/Trouble";
import type { Gate } from "../store/run";
import { type AskProps, useAnswering, useAnswerKeys } from "./answering";
import { nameWords, Value } from "./Value";

interface Choice {
  readonly id: string;
  readonly label: string;
  readonly does: string;
}

export function choicesOf(gate: Gate): Choice[] {
  return gate.opened.choices.map((one) => ({
    id: String(one.id ?? ""), label: String(one.label ?? one.id ?? ""), does: String(one.does ?? ""),
  }));
}

const MEANS: Readonly<Record<string, string>> = {
  proceed: "the run goes on with what is there",
  amend: "it is made again with your words, and asked again",
  cancel: "the run ends for good; what it made stays",
};

/** What somebody writes at a gate and has not sent, by session and step: the gate may be asked anew meanwhile, from
 * another window or terminal, and what was typed is theirs. */
const drafts = new Map<string, { readonly gate: string; readonly text: string }>();

export function GateAsk({ base, session, gate, first = false }: AskProps & { gate: Gate }) {
  const answering = useAnswering(base, session);
  const choices = choicesOf(gate);
  const place = `${base} ${session} ${gate.opened.step}`;
  const kept = drafts.get(place);
  const amending = useSignal(kept ? (choices.find((one) => one.does === "amend")?.id ?? "") : "");
  const sure = useSignal("");
  const words = useSignal(kept?.text ?? "");
  const anew = useSignal(kept !== undefined && kept.gate !== gate.opened.gate);
  const write = (text: string): void => {
    words.value = text;
    if (text.trim()) drafts.set(place, { gate: gate.opened.gate, text });
    else drafts.delete(place);
  };
  const field = useRef<HTMLTextAreaElement>(null);
  const values = useSignal<Readonly<Record<string, unknown>>>({});

  const choose = (choice: Choice): void => {
    if (choice.does === "amend") {
      amending.value = choice.id;
      sure.value = "";
      setTimeout(() => field.current?.focus());
    } else if (choice.does === "cancel" && sure.value !== choice.id) sure.value = choice.id;
    else void answering.give({ type: "reply_to_gate", gate: gate.opened.gate, choice: choice.id, text: "", values: values.value });
  };
  const amend = (event: Event): void => {
    event.preventDefault();
    const text = words.value;
    if (!text.trim()) return;
    drafts.delete(place); // a gate that comes after it asks about something else
    const { gate: name } = gate.opened;
    void answering.give({ type: "reply_to_gate", gate: name, choice: amending.value, text: text.trim(), values: values.value })
      .then((sent) => sent || write(text));
  };
  useAnswerKeys(first, (key) => {
    const choice = choices[Number(key) - 1];
    if (choice) choose(choice);
    return choice !== undefined;
  }, [gate.opened.gate, sure.value]);

  return (
    <section class="ask" aria-label={`Question after ${gate.opened.step}`}>
      <p class="asked" dir="auto">{gate.opened.message || `Shall it go on after ${gate.opened.step}?`}</p>
      {gate.opened.shown.length > 0 && (
        <dl class="fields shown">
          {gate.opened.shown.map((one, index) => (
            <div key={index}>
              <dt>{nameWords(String(one.label ?? ""))}</dt>
              <dd><Value value={one.value} /></dd>
            </div>
          ))}
        </dl>
      )}
      {gate.opened.form.length > 0 && (
        <div class="parameters">
          <ParameterFields id={`p-${gate.opened.gate}`} fields={gate.opened.form.map(fieldOf)} values={values} named={false} />
        </div>
      )}
      <Awaited gate={gate} choices={choices} />
      <div class="choices">
        {choices.map((choice, index) => (
          <button
            key={choice.id}
            type="button"
            class={choice.does === "proceed" ? "primary" : sure.value === choice.id ? "danger" : ""}
            disabled={answering.busy.value}
            title={MEANS[choice.does] ?? ""}
            aria-expanded={choice.does === "amend" ? amending.value === choice.id : undefined}
            onClick={() => choose(choice)}
          >
            {first && <kbd aria-hidden="true">{index + 1}</kbd>}
            {sure.value === choice.id ? `Yes: ${choice.label}` : choice.label}
          </button>
        ))}
      </div>
      {sure.value && <p class="soft" role="status">This ends the run for good; what it made stays. Press it again if you mean it.</p>}
      {amending.value && (
        <form class="amend" onSubmit={amend}>
          {anew.value && <p class="soft" role="status">It was made again while you wrote, and what is asked about is the new one. Your words are still here.</p>}
          <label for={`amend-${gate.opened.gate}`}>What should be different?</label>
          <textarea
            id={`amend-${gate.opened.gate}`}
            ref={field}
            rows={3}
            dir="auto"
            value={words.value}
            onInput={(event) => write(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey) amend(event);
              if (event.key === "Escape") {
                amending.value = "";
                drafts.delete(place);
              }
            }}
          />
          <div class="choices">
            <button class="primary" disabled={!words.value.trim() || answering.busy.value}>Make it again</button>
            <span class="soft">It is made again with your words, and asked again.</span>
          </div>
        </form>
      )}
      <Trouble problem={answering.problem.value} />
    </section>
  );
}

/** What a gate asks for besides, as a parameter: as it is now where nothing is filled in. */
function fieldOf(one: Readonly<Record<string, unknown>>): ParameterShown {
  const name = String(one.name ?? "");
  return {
    name, type: String(one.type ?? "string"), default: one.value, description: String(one.label ?? name), good: "",
    minimum: typeof one.minimum === "number" ? one.minimum : null, maximum: typeof one.maximum === "number" ? one.maximum : null,
    choices: Array.isArray(one.choices) ? one.choices : [], asked: true,
  };
}

/** Whose reply is awaited, until when, and what happens then. */
function Awaited({ gate, choices }: { gate: Gate; choices: readonly Choice[] }) {
  const { assignee, then } = gate.opened;
  if (!assignee && !gate.due) return null;
  const after = then === "remind" ? "then you are reminded" : then ? `then “${choices.find((one) => one.id === then)?.label ?? then}” is chosen` : "";
  const told = [
    assignee ? `asked of ${assignee}` : "",
    gate.due ? `until ${new Date(gate.due).toLocaleString()}${after ? `; ${after}` : ""}` : "",
    gate.reminded ? (gate.reminded === 1 ? "reminded once" : `reminded ${gate.reminded} times`) : "",
  ];
  return <p class="soft small">{told.filter(Boolean).join(" · ")}</p>;
}
