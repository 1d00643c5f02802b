/** Runs, folded from their events: each step with its state, why, its attempts, what it made, what it asks. */
import type {
  ArtifactRejected, CallSettled, ConfirmationAsked, Event, GateOpened, GateResolved, RunEnded, RunStarted, StepStarted,
} from "../api/made";

export type StepState = "waiting" | "running" | "done" | "skipped" | "passed" | "failed" | "interrupted";
export type Finding = ArtifactRejected["findings"][number];

export interface Attempt {
  readonly attempt: number;
  readonly cause: StepStarted["cause"];
  readonly reason: string;
  readonly inputs: Readonly<Record<string, string>>;
  readonly at: string;
  readonly seq: number;
  outcome: "running" | "done" | "failed" | "interrupted";
  message: string;
  /** Of code that failed: the calls that led there. */
  trace: string;
  ms: number | null;
  model: string;
  tokens: number;
  findings: Finding[];
  calls: CallSettled[];
}

export interface Gate {
  readonly opened: GateOpened;
  readonly seq: number;
  readonly at: string;
  /** Until when a reply is awaited, "" for as long as it takes. */
  due: string;
  reminded: number;
  resolved: GateResolved | null;
}

/** One of the values that a step is made for one by one. */
export interface StepItem {
  readonly item: string;
  readonly ok: boolean;
  readonly retrying: boolean;
  readonly message: string;
  readonly ms: number;
  readonly artifact: string;
}

export interface Round {
  readonly kind: string;
  readonly unit: string;
  readonly round: number;
  readonly most: number;
}

export interface Step {
  readonly name: string;
  state: StepState;
  reason: string;
  message: string;
  progress: string;
  executor: string;
  requires: readonly string[];
  attempts: Attempt[];
  artifacts: string[];
  gates: Gate[];
  verdict: string;
  round: Round | null;
  /** By name, how each that has its end came to it. */
  items: Map<string, StepItem>;
  /** Until when it waits for its time, once all it requires is there. */
  until: string;
  /** What a model writes for it now. */
  live: string;
  /** The call that is going on, in words. */
  calling: string;
}

export interface Run {
  kind: "run";
  rev: number;
  readonly seq: number;
  readonly at: string;
  number: number;
  pipeline: string;
  desired: string;
  model: string;
  parameters: Readonly<Record<string, unknown>>;
  readonly steps: Map<string, Step>;
  outcome: RunEnded["outcome"] | null;
  message: string;
  endedAt: string;
  /** What else happened, in the order it did. */
  notes: { readonly seq: number; readonly text: string; readonly look: "note" | "warning" }[];
}

const VERDICTS: Readonly<Record<string, string>> = {
  passed: "passed",
  failed: "failed",
  not_checked: "not checked",
};

export class Runs {
  readonly list: Run[] = [];
  confirming: { asked: ConfirmationAsked; seq: number } | null = null;

  get last(): Run | null {
    return this.list.at(-1) ?? null;
  }

  get gates(): Gate[] {
    const found: Gate[] = [];
    for (const step of this.last?.steps.values() ?? [])
      for (const gate of step.gates) if (!gate.resolved) found.push(gate);
    return found;
  }

  get working(): boolean {
    return this.last !== null && this.last.outcome === null;
  }

  apply(event: Event, seq: number, at: string): Run | null {
    if (event.type === "run_started") return this.started(event, seq, at);
    const run = this.last;
    if (!run) return null;
    if (!("conversation" in event && event.conversation?.startsWith("main"))) run.rev += 1;
    switch (event.type) {
      case "run_ended":
        run.outcome = event.outcome;
        run.message = event.message;
        run.endedAt = at;
        for (const step of run.steps.values()) {
          step.live = step.calling = "";
          if (step.state === "running") step.state = "interrupted";
        }
        return null;
      case "gate_opened":
        stepOf(run, event.step).gates.push({ opened: event, seq, at, due: event.due, reminded: 0, resolved: null });
        return null;
      case "gate_reminded":
        for (const step of run.steps.values())
          for (const gate of step.gates)
            if (gate.opened.gate === event.gate) {
              gate.due = event.due;
              gate.reminded += 1;
            }
        return null;
      case "gate_resolved":
        for (const step of run.steps.values())
          for (const gate of step.gates) if (gate.opened.gate === event.gate) gate.resolved = event;
        return null;
      case "confirmation_asked":
        this.confirming = { asked: event, seq };
        return null;
      case "confirmation_resolved":
        this.confirming = null;
        return null;
      case "words_understood":
        if (event.meaning === "stay" || event.meaning === "no") this.confirming = null;
        return null;
      case "verdict_given":
        stepOf(run, event.step).verdict =
          (VERDICTS[event.verdict] ?? event.verdict) + (event.round ? ` after ${event.round} of ${event.most} repairs` : "");
        return null;
      case "round_started":
        for (const name of event.steps) stepOf(run, name).round = event;
        run.notes.push({
          seq, look: "note", text: `${event.kind} round ${event.round} of ${event.most}, asked for by ${event.unit}: ${event.steps.join(", ")}`,
        });
        return null;
      case "steps_unfolded": {
        const others = [...run.steps.keys()].filter((name) => !name.startsWith(`${event.step}.`));
        const at = others.includes(event.step) ? others.indexOf(event.step) : others.length;
        arrange(run, [...others.slice(0, at), ...event.steps, ...others.slice(at)], event);
        return null;
      }
      case "budget_reached":
        run.notes.push({ seq, look: "warning", text: `budget reached at ${event.step}: ${event.message}` });
        return null;
      case "artifact_set_aside":
        run.notes.push({ seq, look: "note", text: `${event.artifact} was changed by hand; that version is kept as ${event.kept}` });
        return null;
      case "artifact_restored":
        run.notes.push({ seq, look: "note", text: `${event.artifact} was written again from the log` });
        return null;
      default:
        // an event of a kind that this page does not know changes nothing that it shows
        if ("step" in event && event.step) {
          const step = run.steps.get(event.step);
          if (step) stepEvent(step, event, seq, at);
        }
        return null;
    }
  }

  /** What is being written now: it is in no log. */
  takeLive(other: Runs): void {
    for (const step of other.last?.steps.values() ?? []) {
      const own = this.last?.steps.get(step.name);
      if (own?.state === "running" && own.attempts.length === step.attempts.length) {
        own.live = step.live;
        own.progress = step.progress;
      }
    }
  }

  private started(event: RunStarted, seq: number, at: string): Run | null {
    const before = this.last;
    if (event.resumed && before && before.number === event.run) {
      before.outcome = null;
      before.message = "";
      arrange(before, event.steps, event);
      before.rev += 1;
      return null;
    }
    const run: Run = {
      kind: "run", rev: 0, seq, at, number: event.run, pipeline: event.pipeline, desired: event.desired, model: event.model,
      parameters: event.parameters, steps: new Map(), outcome: null, message: "", endedAt: "", notes: [],
    };
    arrange(run, event.steps, event);
    for (const step of run.steps.values()) step.artifacts = before?.steps.get(step.name)?.artifacts ?? [];
    this.confirming = null;
    this.list.push(run);
    return run;
  }
}

/** The steps of a run in this order; those that it has keep what they have come to. */
function arrange(run: Run, names: readonly string[], known: Pick<RunStarted, "requires" | "executors">): void {
  const before = new Map(run.steps);
  run.steps.clear();
  for (const name of names) {
    const kept = before.get(name);
    if (kept) run.steps.set(name, kept);
    const step = stepOf(run, name);
    step.requires = known.requires[name] ?? step.requires;
    step.executor = known.executors[name] ?? step.executor;
  }
}

function stepOf(run: Run, name: string): Step {
  let found = run.steps.get(name);
  if (!found) {
    found = {
      name, state: "waiting", reason: "", message: "", progress: "", executor: "", requires: [], attempts: [], artifacts: [],
      gates: [], verdict: "", round: null, items: new Map(), until: "", live: "", calling: "",
    };
    run.steps.set(name, found);
  }
  return found;
}

function stepEvent(step: Step, event: Event, seq: number, at: string): void {
  const attempt = step.attempts.at(-1);
  switch (event.type) {
    case "step_started":
      if (event.cause !== "retry" || !step.reason) step.reason = event.reason;
      step.state = "running";
      step.progress = step.live = step.calling = step.verdict = "";
      step.until = "";
      step.attempts.push({
        attempt: event.attempt, cause: event.cause, reason: event.reason, inputs: event.inputs, at, seq, outcome: "running",
        message: "", trace: "", ms: null, model: "", tokens: 0, findings: [], calls: [],
      });
      return;
    case "step_progressed":
      if (attempt?.attempt === event.attempt) step.progress = event.text.trim().split("\n").pop() ?? "";
      return;
    case "step_model_retried":
      step.progress = `${event.reason}; asking again in ${Math.round(event.wait_ms / 100) / 10} s`;
      return;
    case "step_text_streamed":
      if (attempt?.attempt !== event.attempt || event.thinking) return;
      step.live = "whole" in event && event.whole === true ? event.text : step.live + event.text;
      return;
    case "call_started":
      if (attempt?.attempt === event.attempt) step.calling = event.title || event.name;
      return;
    case "call_settled":
      if (attempt) attempt.calls.push(event);
      step.calling = "";
      if (event.kind === "model") step.live = "";
      return;
    case "item_settled":
      step.items.set(event.item, event);
      return;
    case "wait_started":
      step.until = event.until;
      return;
    case "artifact_rejected":
      attempt?.findings.push(...event.findings);
      return;
    case "artifact_accepted":
      if (!step.artifacts.includes(event.artifact)) step.artifacts = [...step.artifacts, event.artifact];
      return;
    case "step_completed":
      step.state = "done";
      step.message = step.progress = step.live = step.calling = "";
      settle(attempt, event, "done");
      return;
    case "step_failed":
      step.state = event.retrying ? "waiting" : "failed";
      step.message = event.message;
      step.live = step.calling = "";
      settle(attempt, event, "failed", event.message);
      if (attempt) attempt.trace = event.trace ?? "";
      return;
    case "step_interrupted":
      step.state = "interrupted";
      step.message = event.why;
      step.live = step.calling = "";
      settle(attempt, event, "interrupted", event.why);
      return;
    case "step_skipped":
      if (step.state === "done") return; // made before the run came to rest, and still good
      step.state = event.reason.startsWith("passed over") ? "passed" : "skipped";
      step.reason = event.reason;
      return;
    case "edit_accepted":
      step.state = "skipped";
      step.reason = "your edit is kept as the result";
      return;
    case "step_adopted":
      step.state = "skipped";
      step.reason = "the artifact of the older session is kept";
      return;
  }
}

type Settled = Extract<Event, { type: "step_completed" | "step_failed" | "step_interrupted" }>;

function settle(attempt: Attempt | undefined, event: Settled, outcome: Attempt["outcome"], message = ""): void {
  if (!attempt) return;
  attempt.outcome = outcome;
  attempt.message = message;
  attempt.ms = event.ms;
  attempt.model = event.model ?? "";
  attempt.tokens = (event.usage.input ?? 0) + (event.usage.output ?? 0);
}
