/** Places that are fetched when one goes there. */
import { type Signal, signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect } from "preact/hooks";

export interface Lazy {
  readonly found: Signal<ComponentType | null>;
  load(): void;
}

export function lazy(fetched: () => Promise<ComponentType>): Lazy {
  const found = signal<ComponentType | null>(null);
  let asked = false;
  return {
    found,
    load() {
      if (asked) return;
      asked = true;
      fetched().then((one) => (found.value = one), () => (asked = false));
    },
  };
}

export function Later({ load }: { load: Lazy }) {
  useEffect(() => load.load(), [load]);
  const Found = load.found.value;
  return Found ? <Found /> : <div class="page"><p class="soft loading" role="status">fetching…</p></div>;
}
