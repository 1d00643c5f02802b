/** Runs in a frame with an origin of its own, beside mermaid: draws what it is sent, and sends the picture back. What
 *  others wrote and the code that reads it never touch the page. */
interface Mermaid {
  initialize(settings: object): void;
  render(id: string, text: string): Promise<{ svg: string }>;
}
export interface Wish {
  readonly number: number;
  readonly text: string;
  readonly colours: Readonly<Record<"paper" | "card" | "ink" | "soft" | "rule" | "accent", string>>;
  readonly dark: boolean;
}
export type Drawing = { readonly number: number } & ({ readonly svg: string } | { readonly wrong: string });

declare const mermaid: Mermaid;
let before: Promise<void> = Promise.resolve();

addEventListener("message", (event: MessageEvent<Wish>) => {
  if (event.source !== parent) return;
  before = before.then(() => draw(event.data)); // one after the other: mermaid has one state
});
parent.postMessage("ready", "*");

async function draw({ number, text, colours, dark }: Wish): Promise<void> {
  const { paper, card, ink, soft, rule, accent } = colours;
  const shape = { htmlLabels: false, useMaxWidth: false };
  mermaid.initialize({
    startOnLoad: false, securityLevel: "strict", suppressErrorRendering: true, theme: "base", look: "classic", ...shape, flowchart: shape, class: shape, state: shape, er: shape,
    sequence: shape, gantt: shape, pie: shape, journey: shape, gitGraph: shape, timeline: shape, xyChart: shape, fontFamily: "system-ui, sans-serif",
    themeVariables: {
      darkMode: dark, background: paper, primaryColor: card, primaryTextColor: ink, primaryBorderColor: soft, lineColor: soft, secondaryColor: paper,
      tertiaryColor: paper, textColor: ink, edgeLabelBackground: paper, clusterBkg: paper, clusterBorder: rule, noteBkgColor: card, noteTextColor: ink,
      noteBorderColor: accent, fontSize: "15px", dropShadow: "none", useGradient: false,
    },
  });
  let told: Drawing;
  try {
    told = { number, svg: sized((await mermaid.render(`d${number}`, text)).svg) };
  } catch (error) {
    told = { number, wrong: error instanceof Error ? error.message : String(error) };
  }
  document.body.replaceChildren();
  parent.postMessage(told, "*");
}

/** A picture needs a size of its own: that of what is drawn. */
function sized(svg: string): string {
  const root = new DOMParser().parseFromString(svg, "image/svg+xml").documentElement;
  const box = root.getAttribute("viewBox")?.split(/[\s,]+/).map(Number) ?? [];
  if (box.length === 4) {
    root.setAttribute("width", String(Math.ceil(box[2] ?? 0)));
    root.setAttribute("height", String(Math.ceil(box[3] ?? 0)));
  }
  return new XMLSerializer().serializeToString(root);
}
