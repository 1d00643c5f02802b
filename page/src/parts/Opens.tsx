/** What is made, and asked for, when one wants to see it. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";

export function Opens({ title, look = "", children }: { title: string; look?: string; children: ComponentChildren }) {
  const wanted = useSignal(false);
  return (
    <details class={`attempts ${look}`} onToggle={(event) => (wanted.value = event.currentTarget.open)}>
      <summary>{title}</summary>
      {wanted.value && children}
    </details>
  );
}
