/** Diagrams written in mermaid, as pictures. The frame that draws them is fetched with the first of them; a picture runs
 *  nothing and loads nothing. */
import { scheme } from "../shell/theme";
import type { Drawing, Wish } from "./frame";

/** Where the frame is; the build has its name. */
declare const DIAGRAMS: string;
const PATIENCE_MS = 20_000;
const MOST_KEPT = 60;
const made = new Map<string, Promise<string>>();
const waiting = new Map<number, { done(svg: string): void; failed(error: Error): void }>();
let frame: Promise<Window> | null = null;
let last = 0;

/** The address of a picture of it, or what is wrong with the text. */
export function diagram(text: string): Promise<string> {
  const wish = { text, colours: colours(), dark: scheme.peek() === "dark" };
  const key = `${wish.dark} ${text}`;
  const known = made.get(key);
  if (known) return known;
  const picture = drawn(wish).then((svg) => URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })));
  if (made.size >= MOST_KEPT) made.delete(made.keys().next().value ?? "");
  made.set(key, picture);
  picture.catch(() => made.delete(key));
  return picture;
}

async function drawn(wish: Omit<Wish, "number">): Promise<string> {
  const there = await (frame ??= open());
  const number = ++last;
  return new Promise<string>((done, failed) => {
    setTimeout(() => failed(new Error("it takes too long")), PATIENCE_MS);
    waiting.set(number, { done, failed });
    there.postMessage({ ...wish, number }, "*");
  }).finally(() => waiting.delete(number));
}

function open(): Promise<Window> {
  return new Promise((done, failed) => {
    const element = document.createElement("iframe");
    element.className = "drawing-frame";
    element.title = "draws diagrams";
    element.tabIndex = -1;
    element.setAttribute("sandbox", "allow-scripts");
    element.setAttribute("aria-hidden", "true");
    const giveUp = setTimeout(() => {
      frame = null;
      element.remove();
      failed(new Error("what draws it did not come"));
    }, PATIENCE_MS);
    addEventListener("message", (event: MessageEvent<"ready" | Drawing>) => {
      if (event.source !== element.contentWindow || !element.contentWindow) return;
      if (event.data === "ready") {
        clearTimeout(giveUp);
        done(element.contentWindow);
        return;
      }
      const one = waiting.get(event.data.number);
      if ("svg" in event.data) one?.done(event.data.svg);
      else one?.failed(new Error(event.data.wrong));
    });
    element.src = DIAGRAMS;
    document.body.append(element);
  });
}

function colours(): Wish["colours"] {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { paper: of("paper"), card: of("card"), ink: of("ink"), soft: of("soft"), rule: of("rule"), accent: of("accent") };
}
