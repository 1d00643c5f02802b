/** Blocks of an answer that are more than their text: a diagram, a table of values. What it was written as stays beside
 *  it, and stands there alone where it can't be drawn. */
import { csvRows } from "./csv";

const DRAWN = { mermaid: drawDiagram, csv: drawRows, tsv: drawRows } as const;

export function drawBlocks(root: HTMLElement): void {
  for (const code of root.querySelectorAll<HTMLElement>("pre > code[class^='language-']")) {
    const draw = DRAWN[code.className.replace("language-", "") as keyof typeof DRAWN];
    if (draw && code.parentElement) draw(code.parentElement, code.textContent ?? "");
  }
}

function drawDiagram(written: HTMLElement, text: string): void {
  void import("../frames/diagrams").then(async ({ diagram }) => {
    try {
      const address = await diagram(text);
      const shown = written.closest("figure.block")?.querySelector("img");
      if (shown) shown.src = address; // it stands there already, in other colours
      else {
        const picture = document.createElement("img");
        picture.src = address;
        picture.alt = `Diagram: ${text.replace(/\s+/g, " ").slice(0, 200)}`;
        beside(written, picture);
      }
    } catch (error) {
      tell(written, `This diagram can't be drawn: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`);
    }
  }, () => tell(written, "What draws diagrams can't be fetched now; this is how it is written."));
}

function drawRows(written: HTMLElement, text: string): void {
  const [head = [], ...rows] = csvRows(text.trim());
  if (head.length < 2 || !rows.length || written.closest("figure.block")) return;
  const table = document.createElement("table");
  const line = table.createTHead().insertRow();
  for (const name of head) line.append(Object.assign(document.createElement("th"), { textContent: name, scope: "col" }));
  const body = table.createTBody();
  for (const row of rows) {
    const into = body.insertRow();
    head.forEach((_, column) => {
      const cell = into.insertCell();
      cell.textContent = row[column] ?? "";
      if (/^\s*[-+]?[\d.,]+\s*$/.test(row[column] ?? "")) cell.className = "right";
    });
  }
  beside(written, table);
}

/** In the place of its text, which stays under it. */
function beside(written: HTMLElement, drawn: HTMLElement): void {
  const block = document.createElement("figure");
  block.className = "block";
  const around = document.createElement("div");
  around.className = "drawn";
  around.append(drawn);
  const source = document.createElement("details");
  source.append(Object.assign(document.createElement("summary"), { textContent: "As it is written" }));
  written.replaceWith(block);
  source.append(written);
  block.append(around, source);
}

function tell(written: HTMLElement, words: string): void {
  if (written.nextElementSibling?.classList.contains("untold")) return;
  written.after(Object.assign(document.createElement("p"), { className: "untold soft small", textContent: words }));
}
