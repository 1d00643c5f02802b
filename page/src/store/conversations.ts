/** Conversations, folded from their events: cards of turns, their calls, what is being written. In the log's words. */
import type {
  ApprovalDecided, ApprovalRequested, ConversationOpened, Event, IntentRecorded, ModelSettled, ToolRequested, ToolSettled,
} from "../api/made";
import { interrupts } from "../parts/told";

export type CallPhase = "asked" | "running" | "ended";

/** A tool call. */
export interface Call {
  rev: number;
  readonly conversation: string;
  readonly call: string;
  readonly turn: number;
  tool: string;
  input: Readonly<Record<string, unknown>>;
  phase: CallPhase;
  reason: string;
  /** What "for this session" would remember; "" when that is not offered. */
  key: string;
  tainted: boolean;
  execution: string;
  startedAt: string;
  ms: number | null;
  progress: string;
  outcome: ToolSettled["outcome"] | null;
  effect: ToolSettled["effect"];
  text: string;
  decision: ApprovalDecided["decision"] | null;
  /** The sub-conversation that it is. */
  child: string;
}

export type Part =
  | { readonly kind: "thought"; readonly text: string }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly call: Call };

/** One answer: the turns from a person's words until the model has nothing more to do. */
export interface Card {
  kind: "card";
  rev: number;
  readonly key: string;
  readonly conversation: string;
  readonly seq: number;
  readonly at: string;
  parts: Part[];
  /** What the last model call said. It is the answer unless calls follow. */
  answer: string;
  live: { execution: string; text: string; thinking: string } | null;
  open: boolean;
  outcome: "final" | "interrupted" | "failed" | "";
  why: string;
  model: string;
  ms: number;
  tokens: number;
  /** That the model is asked again, while it is. */
  retry: string;
  endedAt: string;
  /** The list of what is to be done, as it was last written: a line each, `[x]`, `[>]` or `[ ]` before it. */
  todo: string;
  /** The person went back to before it. */
  undone: boolean;
}

export interface Conversation {
  readonly name: string;
  readonly parent: string;
  readonly cards: Card[];
  current: Card | null;
  readonly calls: Map<string, Call>;
}

export class Conversations {
  readonly conversations = new Map<string, Conversation>();
  /** Messages of the main conversation that wait for their turn. */
  readonly queued = new Map<string, string>();
  private readonly running = new Map<string, Call>();
  private why = "";

  get(name: string): Conversation {
    let found = this.conversations.get(name);
    if (!found) {
      found = { name, parent: "", cards: [], current: null, calls: new Map() };
      this.conversations.set(name, found);
    }
    return found;
  }

  get main(): Conversation | undefined {
    return this.conversations.get("main");
  }

  get asked(): Call[] {
    const found: Call[] = [];
    for (const one of this.conversations.values())
      for (const call of one.calls.values()) if (call.phase === "asked") found.push(call);
    return found;
  }

  /** Gives the card that began, for whoever keeps the order of things. */
  apply(event: Event, seq: number, at: string): Card | null {
    switch (event.type) {
      case "conversation_opened":
        this.opened(event);
        return null;
      case "message_accepted":
        if (event.conversation === "main") this.queued.set(event.message, event.text);
        return null;
      case "turn_started": {
        const talk = this.get(event.conversation);
        if (event.conversation === "main") for (const one of event.messages) this.queued.delete(one);
        if (event.continues && talk.current) {
          talk.current.open = true;
          touch(talk.current);
          return null;
        }
        const card = newCard(event.conversation, `${event.conversation}/t${event.turn}`, seq, at);
        talk.cards.push(card);
        talk.current = card;
        return card;
      }
      case "intent_recorded":
        this.intent(event, at);
        return null;
      case "text_streamed":
      case "thinking_streamed":
      case "tool_progressed":
        this.streamed(event);
        return null;
      case "model_retried": {
        const card = this.conversations.get(event.conversation)?.current;
        if (card) {
          card.retry = `${event.reason}; asking again in ${Math.round(event.wait_ms / 100) / 10} s`;
          touch(card);
        }
        return null;
      }
      case "model_settled":
        this.modelSettled(event);
        return null;
      case "tool_requested":
        this.requested(event, at);
        return null;
      case "approval_requested":
        this.asks(event);
        return null;
      case "approval_decided": {
        const call = this.call(event.conversation, event.call);
        if (call) {
          call.phase = "running";
          call.decision = event.decision;
          this.touchCall(call);
        }
        return null;
      }
      case "tool_settled":
        this.toolSettled(event);
        return null;
      case "turn_interrupted":
        this.why = event.reason;
        return null;
      case "turn_completed": {
        const card = this.conversations.get(event.conversation)?.current;
        if (card) {
          card.live = null;
          card.endedAt = at;
          if (event.disposition !== "continue") {
            card.open = false;
            card.outcome = event.disposition;
            if (event.disposition === "interrupted") card.why = (interrupts[this.why] ?? "interrupted");
          }
          touch(card);
        }
        return null;
      }
      case "continuation_cancelled":
      case "limit_reached":
      case "idle_reached": {
        const card = this.conversations.get(event.conversation)?.current;
        if (card?.open) {
          card.open = false;
          if (event.type === "continuation_cancelled") {
            card.outcome = "interrupted";
            card.why = (interrupts[event.reason] ?? "interrupted");
          }
          touch(card);
        }
        return null;
      }
      default:
        return null;
    }
  }

  /** What is being written now, and what running calls say: it is in no log. */
  takeLive(other: Conversations): void {
    for (const [name, one] of other.conversations) {
      const own = this.conversations.get(name);
      if (own?.current?.live && one.current?.live?.execution === own.current.live.execution) own.current.live = { ...one.current.live };
      for (const [call, running] of one.calls) {
        const same = running.progress ? own?.calls.get(call) : undefined;
        if (same?.phase === "running") same.progress = running.progress;
      }
    }
  }

  private opened(event: ConversationOpened): void {
    const parent = event.parent ?? "";
    if (!this.conversations.has(event.conversation))
      this.conversations.set(event.conversation, { name: event.conversation, parent, cards: [], current: null, calls: new Map() });
    const outer = parent && event.execution ? this.running.get(`${parent} ${event.execution}`) : undefined;
    if (outer) {
      outer.child = event.conversation;
      this.touchCall(outer);
    }
  }

  private intent(event: IntentRecorded, at: string): void {
    const talk = this.get(event.conversation);
    if (event.kind === "model") {
      if (talk.current) {
        talk.current.live = { execution: event.execution, text: "", thinking: "" };
        touch(talk.current);
      }
      return;
    }
    const call = this.call(event.conversation, event.call ?? "");
    if (!call) return;
    call.phase = "running";
    call.execution = event.execution;
    call.startedAt = at;
    this.running.set(`${event.conversation} ${event.execution}`, call);
    this.touchCall(call);
  }

  private streamed(event: Extract<Event, { type: "text_streamed" | "thinking_streamed" | "tool_progressed" }>): void {
    if (event.type === "tool_progressed") {
      const call = this.running.get(`${event.conversation} ${event.execution}`);
      if (call) {
        call.progress = event.text.trim().split("\n").pop() ?? "";
        this.touchCall(call);
      }
      return;
    }
    const card = this.conversations.get(event.conversation)?.current;
    if (!card?.live || card.live.execution !== event.execution) return;
    const which = event.type === "text_streamed" ? "text" : "thinking";
    const whole = "whole" in event && event.whole === true; // what was written until now, for who comes in the middle
    card.live[which] = whole ? event.text : card.live[which] + event.text;
    card.retry = "";
    this.touchCard(card);
  }

  private modelSettled(event: ModelSettled): void {
    const card = this.get(event.conversation).current;
    if (!card) return;
    demote(card);
    const thought = event.thinking.map((part) => String(part.text ?? "")).join("\n").trim() || card.live?.thinking.trim() || "";
    if (thought) card.parts.push({ kind: "thought", text: thought });
    card.answer = event.text;
    card.live = null;
    card.retry = "";
    card.model = event.model ?? card.model;
    card.ms += event.ms;
    card.tokens += Number(event.usage.input ?? 0) + Number(event.usage.output ?? 0);
    if (event.outcome === "failed") card.why = event.reason ?? "the model call failed";
    this.touchCard(card);
  }

  private requested(event: ToolRequested, at: string): void {
    const talk = this.get(event.conversation);
    const call: Call = {
      rev: 0, conversation: event.conversation, call: event.call, turn: event.turn, tool: event.tool,
      input: Object.keys(event.input).length || !event.malformed ? event.input : { malformed: event.malformed },
      phase: "running", reason: event.reason ?? "", key: event.key ?? "", tainted: false, execution: "", startedAt: at,
      ms: null, progress: "", outcome: null, effect: "none", text: "", decision: null, child: "",
    };
    talk.calls.set(event.call, call);
    if (talk.current) {
      demote(talk.current);
      talk.current.parts.push({ kind: "call", call });
      this.touchCard(talk.current);
    }
  }

  private asks(event: ApprovalRequested): void {
    const call = this.call(event.conversation, event.call);
    if (!call) return;
    call.phase = "asked";
    call.reason = event.reason;
    call.tainted = event.tainted;
    this.touchCall(call);
  }

  private toolSettled(event: ToolSettled): void {
    const call = this.call(event.conversation, event.call);
    if (!call) return;
    this.running.delete(`${event.conversation} ${event.execution}`);
    call.phase = "ended";
    call.outcome = event.outcome;
    call.effect = event.effect;
    call.text = event.text;
    call.ms = event.ms;
    call.progress = "";
    const card = this.conversations.get(call.conversation)?.current;
    if (card && call.tool === "TodoWrite" && event.outcome === "succeeded") card.todo = event.text;
    this.touchCall(call);
  }

  private call(conversation: string, name: string): Call | undefined {
    return this.conversations.get(conversation)?.calls.get(name);
  }

  private touchCall(call: Call): void {
    call.rev += 1;
    const card = this.conversations.get(call.conversation)?.current;
    if (card) this.touchCard(card);
  }

  /** A card has changed, and with it the calls that it stands in. */
  private touchCard(card: Card): void {
    touch(card);
    const parent = this.conversations.get(card.conversation)?.parent;
    const outer = parent ? this.conversations.get(parent)?.current : null;
    if (outer) this.touchCard(outer);
  }
}

function newCard(conversation: string, key: string, seq: number, at: string): Card {
  return {
    kind: "card", rev: 0, key, conversation, seq, at, parts: [], answer: "", live: null, open: true, outcome: "", why: "",
    model: "", ms: 0, tokens: 0, retry: "", endedAt: "", todo: "", undone: false,
  };
}

/** What was said before further calls is not the answer but a word on the way. */
function demote(card: Card): void {
  if (card.answer.trim()) card.parts.push({ kind: "text", text: card.answer });
  card.answer = "";
}

function touch(one: { rev: number }): void {
  one.rev += 1;
}
