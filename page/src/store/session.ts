/** A session as the page shows it: nothing but the fold of its events, in the order of the log. */
import type { Event, InputRecorded, MessageAccepted, PlanDecided, QuestionAsked, StatusChanged, WordsUnderstood } from "../api/made";
import { Runs, type Gate, type Run } from "./run";
import { Conversations, type Call, type Card } from "./conversations";

export interface Said {
  kind: "said";
  rev: number;
  readonly key: string;
  readonly seq: number;
  readonly at: string;
  readonly text: string;
  /** Kept for the next turn. */
  queued: boolean;
  /** What a run made of it. */
  understood: WordsUnderstood | null;
  /** Files that were given with it, and what it names. */
  readonly attached: MessageAccepted["attached"];
  /** The person went back to before it. */
  undone: boolean;
}
/** What a model would do, once the person says so. */
export interface Plan {
  kind: "plan";
  rev: number;
  readonly seq: number;
  readonly at: string;
  readonly plan: string;
  readonly text: string;
  decision: PlanDecided["decision"] | "replaced" | null;
}
/** A command that goes on in the background. */
export interface Process {
  readonly process: string;
  readonly command: string;
  readonly at: string;
}
export interface Note {
  kind: "note";
  rev: number;
  readonly seq: number;
  readonly at: string;
  readonly text: string;
  readonly look: "note" | "warning" | "error";
}
export type Item = Said | Note | Card | Run | Plan;

export interface Version {
  readonly hash: string;
  readonly seq: number;
  readonly at: string;
  readonly step: string;
  readonly attempt: number;
  readonly run: number;
  readonly size: number;
  readonly by: "step" | "person";
}

export interface Entry {
  readonly seq: number;
  readonly at: string;
  readonly event: Event;
}

export type Ask =
  | { readonly kind: "gate"; readonly gate: Gate }
  | { readonly kind: "approval"; readonly call: Call }
  | { readonly kind: "plan"; readonly plan: Plan }
  | { readonly kind: "confirmation"; readonly asked: NonNullable<Runs["confirming"]>["asked"] }
  | { readonly kind: "question"; readonly asked: QuestionAsked };

export class SessionFold {
  seq = 0;
  at = "";
  session = "";
  pipeline = "";
  mode = "";
  model = "";
  status: StatusChanged | null = null;
  readonly talk = new Conversations();
  readonly runs = new Runs();
  readonly items: Item[] = [];
  readonly inputs: InputRecorded[] = [];
  readonly artifacts = new Map<string, Version[]>();
  readonly questions = new Map<string, QuestionAsked>();
  readonly processes = new Map<string, Process>();
  plan: Plan | null = null;
  readonly log: Entry[] = [];
  private readonly saidBy = new Map<string, Said>();

  /** Takes every event once: a durable one that it has already is not taken again. */
  apply(event: Event, seq: number | null, at = ""): boolean {
    if (seq !== null) {
      if (seq <= this.seq) return false;
      this.seq = seq;
      this.at = at;
      this.log.push({ seq, at, event });
    }
    this.head(event);
    this.words(event, seq ?? this.seq, at);
    const run = this.runs.apply(event, seq ?? this.seq, at);
    if (run) this.items.push(run);
    const card = this.talk.apply(event, seq ?? this.seq, at);
    if (card?.conversation === "main") this.items.push(card);
    this.beside(event, seq ?? this.seq, at);
    return true;
  }

  /** The fold of all these events and of those it has, with what is live now. */
  withEarlier(entries: readonly Entry[]): SessionFold {
    const made = new SessionFold();
    const known = new Set(this.log.map((one) => one.seq));
    const all = [...entries.filter((one) => !known.has(one.seq)), ...this.log].sort((one, other) => one.seq - other.seq);
    for (const one of all) made.apply(one.event, one.seq, one.at);
    made.status = this.status;
    for (const [name, asked] of this.questions) made.questions.set(name, asked);
    made.talk.takeLive(this.talk);
    made.runs.takeLive(this.runs);
    return made;
  }

  /** What waits for the person now, the oldest first. */
  get asks(): Ask[] {
    return [
      ...(this.runs.confirming ? [{ kind: "confirmation" as const, asked: this.runs.confirming.asked }] : []),
      ...this.runs.gates.map((gate) => ({ kind: "gate" as const, gate })),
      ...this.talk.asked.map((call) => ({ kind: "approval" as const, call })),
      ...[...this.questions.values()].map((asked) => ({ kind: "question" as const, asked })),
      ...(this.plan ? [{ kind: "plan" as const, plan: this.plan }] : []),
    ];
  }

  get working(): boolean {
    return this.runs.working || this.talk.main?.current?.open === true;
  }

  private head(event: Event): void {
    switch (event.type) {
      case "session_created":
        this.session = event.session;
        this.pipeline = event.pipeline;
        return;
      case "session_adopted":
        this.session = event.session;
        this.pipeline = event.pipeline;
        for (const note of event.notes) this.note(note, "note");
        return;
      case "input_recorded":
        this.inputs.push(event);
        return;
      case "artifact_accepted":
        this.version(event.artifact, {
          hash: event.hash, seq: this.seq, at: this.at, step: event.step, attempt: event.attempt, run: event.run, size: event.size, by: "step",
        });
        return;
      case "setting_changed":
        if (event.setting === "mode") this.mode = event.value;
        else this.model = event.value;
        return;
      case "status_changed":
        this.status = event;
        return;
      case "question_asked":
        this.questions.set(event.question, event);
        return;
      case "question_closed":
        this.questions.delete(event.question);
        return;
      case "notice_given":
        this.note(event.text, "warning");
        return;
      case "cut_accepted":
        this.note(`the log goes on without what it lost: ${event.lost.join("; ")}`, "warning");
        return;
    }
  }

  /** Plans, processes, and going back. */
  private beside(event: Event, seq: number, at: string): void {
    switch (event.type) {
      case "plan_submitted":
        if (this.plan) this.decide("replaced");
        this.plan = { kind: "plan", rev: 0, seq, at, plan: event.plan, text: event.text, decision: null };
        this.items.push(this.plan);
        return;
      case "plan_decided":
        this.decide(event.decision);
        return;
      case "process_started":
        this.processes.set(event.process, { process: event.process, command: event.command, at });
        return;
      case "process_ended":
        if (this.processes.delete(event.process)) this.note(`${event.process} in the background: ${event.reason}`, "note");
        return;
      case "files_restored":
        this.note(`taken back: ${Object.keys(event.files).join(", ")}`, "note");
        return;
      case "conversation_rewound": {
        if (event.conversation !== "main") return;
        const said = this.saidBy.get(event.message);
        const from = said ? this.items.indexOf(said) : this.items.findIndex((item) => item.kind === "card" && Number(item.key.split("/t")[1]) >= event.turn);
        for (const item of from < 0 ? [] : this.items.slice(from)) {
          if (item.kind !== "said" && item.kind !== "card") continue;
          item.undone = true;
          item.rev += 1;
        }
        const files = Object.keys(event.files);
        this.note(`You went back to before “${said?.text.slice(0, 60) ?? `turn ${event.turn}`}”; the model is told nothing of what came after${files.length ? `, and these files are as they were: ${files.join(", ")}` : ""}.`, "note");
        return;
      }
    }
  }

  private decide(decision: NonNullable<Plan["decision"]>): void {
    if (!this.plan) return;
    this.plan.decision = decision;
    this.plan.rev += 1;
    this.plan = null;
  }

  private words(event: Event, seq: number, at: string): void {
    switch (event.type) {
      case "words_said":
        this.say(event.words, event.text, seq, at, false, []);
        return;
      case "words_understood": {
        const said = this.saidBy.get(event.words);
        if (said) {
          said.understood = event;
          said.rev += 1;
        }
        return;
      }
      case "message_accepted": {
        if (event.conversation !== "main" || event.origin !== "person") return;
        const last = this.items.findLast((item) => item.kind === "said");
        if (last?.kind === "said" && last.understood?.meaning === "not for it" && last.text === event.text) {
          this.saidBy.set(event.message, last); // it was heard by the run first
          return;
        }
        this.say(event.message, event.text, seq, at, event.delivery === "queued", event.attached);
        return;
      }
      case "turn_started":
        if (event.conversation !== "main") return;
        for (const name of event.messages) {
          const said = this.saidBy.get(name);
          if (!said?.queued) continue;
          said.queued = false;
          said.rev += 1;
          this.items.splice(this.items.indexOf(said), 1);
          this.items.push(said); // it stands where it was answered
        }
        return;
      case "transcript_compacted":
        if (event.conversation === "main") this.note("older turns are told to the model in short from now on", "note");
        return;
      case "limit_reached":
        if (event.conversation === "main") this.note(`stopped here: ${event.reason}`, "warning");
        return;
      case "taint_cleared":
        this.note("what came from outside until here is fine, you said", "note");
        return;
      case "approval_remembered":
        this.note(`allowed for this session: ${event.key}`, "note");
        return;
      case "processor_failed":
        this.note(`a processor of results failed: ${event.error}`, "warning");
        return;
      case "command_refused":
        if (event.refusal === "shutting_down" && event.text) this.note(`not sent, the conversation is being closed: ${event.text}`, "error");
        return;
    }
  }

  private say(name: string, text: string, seq: number, at: string, queued: boolean, attached: Said["attached"]): void {
    const said: Said = { kind: "said", rev: 0, key: name, seq, at, text, queued, understood: null, attached, undone: false };
    this.saidBy.set(name, said);
    this.items.push(said);
  }

  private note(text: string, look: Note["look"]): void {
    this.items.push({ kind: "note", rev: 0, seq: this.seq, at: this.at, text, look });
  }

  private version(name: string, version: Version): void {
    const known = this.artifacts.get(name) ?? [];
    this.artifacts.set(name, [...known, version]);
  }
}
