/** What the server has formatted, with what a browser can add to it: tables that sort, and blocks drawn. */
import { useEffect, useRef } from "preact/hooks";
import { scheme } from "../shell/theme";
import { drawBlocks } from "./blocks";
import { compared } from "./SortTable";

export function Html({ html, look = "" }: { html: string; look?: string }) {
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!root.current) return;
    drawBlocks(root.current);
    for (const table of root.current.querySelectorAll("table")) if ((table.tBodies[0]?.rows.length ?? 0) > 1) makeSortable(table);
  }, [html, scheme.value]);
  return <div ref={root} class={look} dangerouslySetInnerHTML={{ __html: html }} />;
}
function makeSortable(table: HTMLTableElement): void {
  const body = table.tBodies[0];
  const heads = [...(table.tHead?.rows[0]?.cells ?? [])];
  if (!body) return;
  const given = [...body.rows];
  heads.forEach((head, column) => {
    if (!head.textContent?.trim() || head.querySelector("button")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sorts";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const now = head.ariaSort;
      for (const one of heads) one.ariaSort = null;
      const text = (row: HTMLTableRowElement): string => row.cells[column]?.textContent ?? "";
      const way = now === "ascending" ? -1 : 1;
      const sorted = now === "descending" ? given : given.toSorted((one, other) => compared(text(one), text(other)) * way);
      if (now !== "descending") head.ariaSort = way > 0 ? "ascending" : "descending";
      body.append(...sorted);
    });
  });
}
