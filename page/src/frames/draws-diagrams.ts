/** In a frame of its own, beside mermaid: a text to an SVG. */
import { serve } from "./serve";

interface Mermaid {
  initialize(settings: object): void;
  render(id: string, text: string): Promise<{ svg: string }>;
}
export interface DiagramWish {
  readonly text: string;
  readonly colours: Readonly<Record<"paper" | "card" | "ink" | "soft" | "rule" | "accent", string>>;
  readonly dark: boolean;
}

declare const mermaid: Mermaid;
let number = 0;
serve(draw);

async function draw({ text, colours, dark }: DiagramWish): Promise<string> {
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
  try {
    return sized((await mermaid.render(`d${++number}`, text)).svg);
  } finally {
    document.body.replaceChildren();
  }
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
