/** Server-sent events that survive sleep, a lost network and a new server: it goes on after the last number it has. */
import { type Signal, signal } from "@preact/signals";
import { signedOut } from "./client";

export type Link = "connecting" | "live" | "away";
export interface Sent {
  event: string;
  id: number | null;
  data: unknown;
}

const QUIET_MS = 40_000; // the server says something every 15 s
const WAITS_MS = [250, 500, 1000, 2000, 4000];

export class Stream {
  readonly link: Signal<Link> = signal("connecting");
  /** How often it had to begin again. */
  readonly returns: Signal<number> = signal(0);
  private stopped = false;
  private tries = 0;
  private control: AbortController | null = null;
  private wake: (() => void) | null = null;

  constructor(
    private readonly address: () => string,
    private readonly take: (sent: Sent[]) => void,
    private readonly refused: (status: number) => void = () => {},
  ) {
    addEventListener("online", this.hurry);
    document.addEventListener("visibilitychange", this.hurry);
    void this.run();
  }

  stop(): void {
    this.stopped = true;
    removeEventListener("online", this.hurry);
    document.removeEventListener("visibilitychange", this.hurry);
    this.control?.abort();
    this.wake?.();
  }

  private readonly hurry = (): void => {
    if (document.visibilityState !== "hidden") this.wake?.();
  };

  private async run(): Promise<void> {
    while (!this.stopped) {
      try {
        await this.once();
      } catch {
        // whatever broke it, the next connection goes on after the last number
      }
      if (this.stopped) return;
      this.link.value = "away";
      const wait = WAITS_MS[Math.min(this.tries++, WAITS_MS.length - 1)] ?? 4000;
      await new Promise<void>((done) => {
        const timer = setTimeout(done, wait);
        this.wake = () => {
          clearTimeout(timer);
          done();
        };
      });
      this.returns.value += 1;
    }
  }

  private async once(): Promise<void> {
    const control = new AbortController();
    this.control = control;
    let timer = setTimeout(() => control.abort(), QUIET_MS);
    try {
      const reply = await fetch(this.address(), { signal: control.signal, headers: { "X-Weft": "1" }, cache: "no-store" });
      signedOut.value = reply.status === 401;
      if (!reply.ok || reply.body === null) {
        if (reply.status === 404) this.stop();
        this.refused(reply.status);
        return;
      }
      this.link.value = "live";
      this.tries = 0;
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      const parser = new Parser();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        clearTimeout(timer);
        timer = setTimeout(() => control.abort(), QUIET_MS);
        const sent = parser.feed(value);
        if (sent.length) this.take(sent);
      }
    } finally {
      clearTimeout(timer);
      control.abort();
    }
  }
}

/** Lines to events; a piece may end anywhere. */
export class Parser {
  private rest = "";
  private event = "";
  private id: number | null = null;
  private data: string[] = [];

  feed(text: string): Sent[] {
    const lines = (this.rest + text).split("\n");
    this.rest = lines.pop() ?? "";
    const found: Sent[] = [];
    for (const line of lines) {
      if (line === "") {
        if (this.data.length) found.push({ event: this.event, id: this.id, data: JSON.parse(this.data.join("\n")) });
        this.event = "";
        this.id = null;
        this.data = [];
      } else if (line.startsWith("data: ")) this.data.push(line.slice(6));
      else if (line.startsWith("event: ")) this.event = line.slice(7);
      else if (line.startsWith("id: ")) this.id = Number(line.slice(4));
    }
    return found;
  }
}
