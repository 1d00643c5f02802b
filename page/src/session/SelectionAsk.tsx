/** Select a passage anywhere on the session's page, and ask about it. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { go, to } from "../shell/address";
import type { OpenSession } from "../store/open";

export function SelectionAsk({ open, quote }: { open: OpenSession; quote: Signal<string> }) {
  const spot = useSignal<{ x: number; y: number; text: string } | null>(null);
  useEffect(() => {
    const look = (): void => {
      const chosen = getSelection();
      const text = chosen?.toString().trim() ?? "";
      const within = chosen?.anchorNode?.parentElement?.closest(".timeline, .panel");
      if (!chosen || chosen.isCollapsed || text.length < 3 || !within || within.closest("textarea, input")) {
        spot.value = null;
        return;
      }
      const box = chosen.getRangeAt(0).getBoundingClientRect();
      spot.value = { x: Math.max(8, Math.min(box.left, innerWidth - 300)), y: Math.max(8, box.top - 40), text };
    };
    document.addEventListener("selectionchange", look);
    addEventListener("scroll", look, { passive: true });
    return () => {
      document.removeEventListener("selectionchange", look);
      removeEventListener("scroll", look);
    };
  }, []);
  if (!spot.value) return null;
  const { x, y, text } = spot.value;
  const done = (act: () => void) => () => {
    act();
    getSelection()?.removeAllRanges();
  };
  const input = open.fold.inputs[0]?.input;
  return (
    <div class="selection" role="toolbar" aria-label="The selected passage" style={{ left: `${x}px`, top: `${y}px` }} onMouseDown={(event) => event.preventDefault()}>
      <button type="button" onClick={done(() => (quote.value = text))}>Ask about this</button>
      {input && (
        <button type="button" onClick={done(() => go(`${to("s", open.id, "source", input)}?${new URLSearchParams({ quote: text })}`))}>Find in the source</button>
      )}
    </div>
  );
}
