/** Whatever waits for a person. */
import { mayAnswer } from "../store/desk";
import type { Ask } from "../store/session";
import type { AskProps } from "./answering";
import { ApprovalAsk } from "./ApprovalAsk";
import { ConfirmationAsk } from "./ConfirmationAsk";
import { GateAsk } from "./GateAsk";
import { PlanAsk } from "./PlanAsk";
import { QuestionAsk } from "./QuestionAsk";

/** Whoever may only look sees it as it is asked of others. */
export function Asked({ ask, first = false, ...place }: AskProps & { ask: Ask }) {
  return (
    <fieldset disabled={!mayAnswer.value}>
      <One ask={ask} first={first && mayAnswer.value} {...place} />
      {!mayAnswer.value && <p class="soft">You may look here; it waits for somebody who may answer.</p>}
    </fieldset>
  );
}

function One({ ask, ...rest }: AskProps & { ask: Ask }) {
  switch (ask.kind) {
    case "gate":
      return <GateAsk gate={ask.gate} {...rest} />;
    case "approval":
      return <ApprovalAsk call={ask.call} {...rest} />;
    case "confirmation":
      return <ConfirmationAsk asked={ask.asked} {...rest} />;
    case "question":
      return <QuestionAsk asked={ask.asked} {...rest} />;
    case "plan":
      return <PlanAsk plan={ask.plan} {...rest} />;
  }
}

export function askKey(ask: Ask): string {
  switch (ask.kind) {
    case "gate":
      return ask.gate.opened.gate;
    case "approval":
      return `${ask.call.conversation}/${ask.call.turn}/${ask.call.call}`; // a model may call its calls the same in each turn
    case "confirmation":
      return ask.asked.confirmation;
    case "question":
      return ask.asked.question;
    case "plan":
      return `plan ${ask.plan.plan}`;
  }
}
