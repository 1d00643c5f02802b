/** A frame of the page's own making in which code of others reads what others wrote: fetched when it is first needed, with
 *  an origin of its own, no cookie and no way out. The page sends it wishes and is sent what came of them. */
const PATIENCE_MS = 30_000;

type Told = "ready" | ({ readonly number: number } & ({ readonly found: unknown } | { readonly wrong: string }));

export class WorkFrame<W, F> {
  private readonly waiting = new Map<number, { done(found: F): void; failed(error: Error): void }>();
  private window: Promise<Window> | null = null;
  private last = 0;

  constructor(
    private readonly address: string,
    private readonly title: string,
  ) {}

  /** What came of it, or the error that it says. */
  async ask(wish: W): Promise<F> {
    const there = await (this.window ??= this.open());
    const number = ++this.last;
    return new Promise<F>((done, failed) => {
      setTimeout(() => failed(new Error("it takes too long")), PATIENCE_MS);
      this.waiting.set(number, { done, failed });
      there.postMessage({ number, wish }, "*");
    }).finally(() => this.waiting.delete(number));
  }

  private open(): Promise<Window> {
    return new Promise((done, failed) => {
      const frame = document.createElement("iframe");
      frame.className = "work-frame";
      frame.title = this.title;
      frame.tabIndex = -1;
      frame.setAttribute("sandbox", "allow-scripts");
      frame.setAttribute("aria-hidden", "true");
      const giveUp = setTimeout(() => {
        this.window = null;
        frame.remove();
        failed(new Error("what is needed for it can't be fetched now"));
      }, PATIENCE_MS);
      addEventListener("message", (event: MessageEvent<Told>) => {
        if (event.source !== frame.contentWindow || !frame.contentWindow) return;
        if (event.data === "ready") {
          clearTimeout(giveUp);
          done(frame.contentWindow);
          return;
        }
        const one = this.waiting.get(event.data.number);
        if ("found" in event.data) one?.done(event.data.found as F);
        else one?.failed(new Error(event.data.wrong));
      });
      frame.src = this.address;
      document.body.append(frame);
    });
  }
}
