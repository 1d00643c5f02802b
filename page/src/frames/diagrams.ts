/** Diagrams written in mermaid, as pictures: a picture runs nothing and loads nothing. */
import { scheme } from "../shell/theme";
import type { DiagramWish } from "./draws-diagrams";
import { WorkFrame } from "./WorkFrame";

/** Where the frame is; the build has its name. */
declare const DIAGRAMS: string;
const MOST_KEPT = 60;
const frame = new WorkFrame<DiagramWish, string>(DIAGRAMS, "draws diagrams");
const made = new Map<string, Promise<string>>();

/** The address of a picture of it; fails with what is wrong with the text. */
export function diagram(text: string): Promise<string> {
  const dark = scheme.peek() === "dark";
  const key = `${dark} ${text}`;
  const known = made.get(key);
  if (known) return known;
  const picture = frame.ask({ text, colours: colours(), dark }).then((svg) => URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" })));
  if (made.size >= MOST_KEPT) made.delete(made.keys().next().value ?? "");
  made.set(key, picture);
  picture.catch(() => made.delete(key));
  return picture;
}

function colours(): DiagramWish["colours"] {
  const style = getComputedStyle(document.documentElement);
  const of = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  return { paper: of("paper"), card: of("card"), ink: of("ink"), soft: of("soft"), rule: of("rule"), accent: of("accent") };
}
