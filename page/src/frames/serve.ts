/** Inside a frame with an origin of its own: each wish of the page is carried out, one after the other, and answered. */
export function serve<W, F>(work: (wish: W) => Promise<F>, given: (found: F) => Transferable[] = () => []): void {
  let before: Promise<void> = Promise.resolve();
  addEventListener("message", (event: MessageEvent<{ number: number; wish: W }>) => {
    if (event.source !== parent) return;
    const { number, wish } = event.data;
    before = before.then(async () => {
      try {
        const found = await work(wish);
        parent.postMessage({ number, found }, { targetOrigin: "*", transfer: given(found) });
      } catch (error) {
        parent.postMessage({ number, wrong: error instanceof Error ? error.message : String(error) }, "*");
      }
    });
  });
  parent.postMessage("ready", "*");
}
