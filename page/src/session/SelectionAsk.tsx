/** Select a passage anywhere on the session's page, and ask about it. */
import { type Signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

export function SelectionAsk({ quote }: { quote: Signal<string> }) {
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
      spot.value = { x: Math.max(8, Math.min(box.left, innerWidth - 140)), y: Math.max(8, box.top - 40), text };
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
  return (
    <button
      type="button"
      class="selection"
      style={{ left: `${x}px`, top: `${y}px` }}
      onMouseDown={(event) => event.preventDefault()}
      onClick={() => {
        quote.value = text;
        getSelection()?.removeAllRanges();
      }}
    >
      Ask about this
    </button>
  );
}
