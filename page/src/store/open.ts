/** The session that is open: its stream into its fold, and one signal a frame to show it. */
import { type Signal, signal } from "@preact/signals";
import type { Event } from "../api/made";
import { type Sent, Stream } from "../api/stream";
import { SessionFold } from "./session";

export class OpenSession {
  readonly fold = new SessionFold();
  /** Changes when there is something new to show, at most once a frame. */
  readonly shown: Signal<number> = signal(0);
  /** Everything that the log had when it was opened is here. */
  readonly caughtUp: Signal<boolean> = signal(false);
  readonly missing: Signal<boolean> = signal(false);
  readonly stream: Stream;
  private due = false;

  constructor(
    readonly base: string,
    readonly id: string,
  ) {
    const address = `${base}/sessions/${encodeURIComponent(id)}/events`;
    this.stream = new Stream(
      () => `${address}?after=${this.fold.seq}`,
      (sent) => this.take(sent),
      (status) => {
        this.missing.value = status === 404;
      },
    );
  }

  close(): void {
    this.stream.stop();
  }

  private take(sent: readonly Sent[]): void {
    for (const one of sent) {
      if (one.event === "caught_up") this.caughtUp.value = true;
      else if (isWire(one.data)) this.fold.apply(one.data.event, one.data.seq ?? null, one.data.at ?? "");
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
