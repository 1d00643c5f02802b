/** The session that is open: its stream into its fold, and one signal a frame to show it. A long conversation is opened
 *  from its end; with what is older the fold is made anew from all that is known, so that it is never anything else. */
import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { get } from "../api/client";
import type { EarlierTurns, Event } from "../api/made";
import { type Sent, Stream } from "../api/stream";
import { sessions } from "./desk";
import { SessionFold } from "./session";

const FIRST_TURNS = 40;
const MORE_TURNS = 120;
const ALL = 1_000_000;

export class OpenSession {
  fold = new SessionFold();
  /** Changes when there is something new to show, at most once a frame. */
  readonly shown: Signal<number> = signal(0);
  /** Everything that the log had when it was opened is here. */
  readonly caughtUp: Signal<boolean> = signal(false);
  readonly missing: Signal<boolean> = signal(false);
  /** Of the conversation nothing before this event is here; 0 when all of it is. */
  readonly begins: Signal<number> = signal(0);
  /** Its log says that something goes on, but whoever was at it has ended, and nothing has come since. */
  readonly left: ReadonlySignal<boolean> = computed(() => {
    this.shown.value;
    const entry = sessions.value.get(this.id);
    return this.caughtUp.value && this.fold.working && entry?.state === "interrupted" && entry.seq >= this.fold.seq;
  });
  readonly stream: Stream;
  private due = false;
  private readonly address: string;
  private asked: Promise<void> | null = null;

  constructor(
    readonly base: string,
    readonly id: string,
    /** An event that one wants to see. */
    since = 0,
  ) {
    this.address = `${base}/sessions/${encodeURIComponent(id)}`;
    this.stream = new Stream(
      // What broke off on its way here is asked for again from where it began: only its end says what was left out.
      () => `${this.address}/events?after=${this.caughtUp.peek() ? this.fold.seq : 0}&turns=${FIRST_TURNS}&since=${since}`,
      (sent) => this.take(sent),
      (status) => {
        this.missing.value = status === 404;
      },
    );
  }

  get working(): boolean {
    return this.fold.working && !this.left.value;
  }

  close(): void {
    this.stream.stop();
  }

  /** Some more of the conversation's past, or all of it. */
  earlier(turns = MORE_TURNS): Promise<void> {
    this.asked ??= this.fetch(turns).finally(() => (this.asked = null));
    return this.asked;
  }

  /** Everything there is. */
  async whole(): Promise<void> {
    while (this.begins.value) await this.earlier(ALL);
  }

  private async fetch(turns: number): Promise<void> {
    if (!this.begins.value) return;
    const found = await get<EarlierTurns>(`${this.address}/earlier?before=${this.begins.value}&turns=${turns}`);
    this.fold = this.fold.withEarlier(found.records.map((one) => ({ seq: one.seq, at: one.at, event: one.event as unknown as Event })));
    this.begins.value = found.begins;
    this.shown.value += 1;
  }

  private take(sent: readonly Sent[]): void {
    for (const one of sent) {
      if (one.event === "caught_up") {
        if (!this.caughtUp.value) this.begins.value = (one.data as { begins?: number }).begins ?? 0;
        this.caughtUp.value = true;
      } else if (isWire(one.data)) this.fold.apply(one.data.event, one.data.seq ?? null, one.data.at ?? "");
    }
    this.show();
  }

  private show(): void {
    if (this.due) return;
    this.due = true;
    const then = (): void => {
      this.due = false;
      this.shown.value += 1;
    };
    if (document.visibilityState === "hidden") setTimeout(then, 200);
    else requestAnimationFrame(then);
  }
}

interface Wire {
  readonly seq?: number;
  readonly at?: string;
  readonly event: Event;
}

function isWire(data: unknown): data is Wire {
  return typeof data === "object" && data !== null && "event" in data;
}
