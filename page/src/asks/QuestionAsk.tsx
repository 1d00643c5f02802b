/** What a tool asks the person: options to pick, or words. */
import { useSignal } from "@preact/signals";
import { Trouble } from "../parts/Trouble";
import type { QuestionAsked } from "../api/made";
import { type AskProps, useAnswering } from "./answering";

interface One {
  readonly text: string;
  readonly options: readonly string[];
  readonly several: boolean;
}

function questions(asked: QuestionAsked): One[] {
  return asked.questions.map((one) => ({
    text: String(one.text ?? one.question ?? ""),
    options: Array.isArray(one.options)
      ? one.options.map((option) => (typeof option === "object" && option !== null && "label" in option ? String(option.label) : String(option)))
      : [],
    several: one.several === true,
  }));
}

export function QuestionAsk({ base, session, asked }: AskProps & { asked: QuestionAsked }) {
  const answering = useAnswering(base, session);
  const picked = useSignal<Readonly<Record<string, readonly string[]>>>({});
  const list = questions(asked);
  const set = (text: string, values: readonly string[]): void => {
    picked.value = { ...picked.value, [text]: values };
  };
  const whole = list.every((one) => (picked.value[one.text] ?? []).some((value) => value.trim()));
  const give = (event: Event): void => {
    event.preventDefault();
    const answers = Object.fromEntries(list.map((one) => [one.text, (picked.value[one.text] ?? []).join(", ")]));
    void answering.give({ type: "answer_question", question: asked.question, answers });
  };
  return (
    <form class="ask" aria-label="A question for you" onSubmit={give}>
      {list.map((one) => (
        <fieldset key={one.text}>
          <legend class="asked" dir="auto">{one.text}</legend>
          {one.options.map((option) => {
            const chosen = (picked.value[one.text] ?? []).includes(option);
            return (
              <label key={option} class="option">
                <input
                  type={one.several ? "checkbox" : "radio"}
                  name={`${asked.question}-${one.text}`}
                  checked={chosen}
                  onChange={() => {
                    const before = picked.value[one.text] ?? [];
                    set(one.text, !one.several ? [option] : chosen ? before.filter((value) => value !== option) : [...before, option]);
                  }}
                />
                {option}
              </label>
            );
          })}
          {!one.options.length && (
            <input aria-label={one.text} dir="auto" onInput={(event) => set(one.text, [event.currentTarget.value])} />
          )}
        </fieldset>
      ))}
      <div class="choices">
        <button class="primary" disabled={!whole || answering.busy.value}>Answer</button>
        <button
          type="button"
          disabled={answering.busy.value}
          onClick={() => void answering.give({ type: "answer_question", question: asked.question, declined: "the person did not want to answer" })}
        >
          Don’t answer
        </button>
      </div>
      <Trouble problem={answering.problem.value} />
    </form>
  );
}
