/** What a person is asked back before words are taken as something that matters. */
import { Trouble } from "../parts/Trouble";
import type { ConfirmationAsked, ResolveConfirmation } from "../api/made";
import { type AskProps, useAnswering } from "./answering";

type Kind = ConfirmationAsked["kind"];
const ANSWERS: Readonly<Record<Kind, readonly [ResolveConfirmation["choice"], string][]>> = {
  breakout: [["leave", "Leave the run"], ["stay", "Stay with it"]],
  reply: [["yes", "Yes"], ["no", "No"]],
  fresh: [["yes", "Start afresh"], ["no", "No"]],
  change: [],
};

export function ConfirmationAsk({ base, session, asked }: AskProps & { asked: ConfirmationAsked }) {
  const answering = useAnswering(base, session);
  return (
    <section class="ask" aria-label="Do you mean this?">
      <p class="asked">{words(asked)}</p>
      {asked.text && <blockquote dir="auto">{asked.text}</blockquote>}
      <div class="choices">
        {ANSWERS[asked.kind].map(([choice, label], index) => (
          <button
            key={choice}
            type="button"
            class={index === 0 ? "primary" : ""}
            disabled={answering.busy.value}
            onClick={() => void answering.give({ type: "resolve_confirmation", confirmation: asked.confirmation, choice })}
          >
            {label}
          </button>
        ))}
      </div>
      <Trouble problem={answering.problem.value} />
    </section>
  );
}

function words(asked: ConfirmationAsked): string {
  switch (asked.kind) {
    case "breakout":
      return "Leave the run for this? It is kept, and can be taken up again.";
    case "reply": {
      const meant = asked.change ? `${asked.choice}: ${asked.change}` : asked.choice;
      return `Understood as: ${meant}${asked.does === "cancel" ? ", which ends the run for good" : ""}. Is that what you mean?`;
    }
    case "fresh":
      return "Start afresh? That ends the run that is there for good; what it made stays.";
    case "change":
      return "What should be changed? Say it below.";
  }
}
