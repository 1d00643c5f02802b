/** Ctrl+K: everything there is, by a few letters. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get } from "../api/client";
import { base, bySeen, choose, me, waiting } from "../store/desk";
import { go, to } from "./address";
import { DOCUMENTATION, PLACES } from "./places";
import { setTheme } from "./theme";

export const paletteOpen = signal(false);
export const keysOpen = signal(false);
/** What can be done or opened in the place that is shown, as the place itself says. */
export const entriesHere = signal<() => readonly Entry[]>(() => []);

export interface Entry {
  readonly label: string;
  readonly about: string;
  /** What else it is found by: a session's id, as the terminal says it. */
  readonly also?: string;
  readonly act: () => void;
}

/** Pipelines and collections, asked for when the palette is opened. */
const known = signal<readonly Entry[]>([]);

async function look(): Promise<void> {
  const named = async (kind: string, href: string, about: string): Promise<Entry[]> =>
    (await get<readonly { name: string; title?: string }[]>(`${base.value}/${kind}`)).map((one) => ({ label: one.title || one.name, about, act: () => go(to(href, one.name)) }));
  const found = await Promise.allSettled([named("pipelines", "pipelines", "pipeline"), named("collections", "knowledge", "collection")]);
  known.value = found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

function entries(): Entry[] {
  return [
    ...entriesHere.value(),
    ...waiting.value.map((one) => ({ label: one.title, about: "waits for you", also: one.id, act: () => go(to("s", one.id)) })),
    ...PLACES.map((one) => ({ label: one.label, about: "place", act: () => go(one.href) })),
    ...bySeen.value.filter((one) => one.state !== "waiting").map((one) => ({ label: one.title, about: one.pipeline || "conversation", also: one.id, act: () => go(to("s", one.id)) })),
    ...known.value,
    ...(["light", "dark", "system"] as const).map((theme) => ({ label: `Appearance: ${theme}`, about: "setting", act: () => setTheme(theme) })),
    ...(me.value?.workspaces ?? []).map((one) => ({ label: `Workspace: ${one.name}`, about: one.path, act: () => choose(one.name) })),
    { label: "Keys", about: "what each key does", act: () => (keysOpen.value = true) },
    { label: "Documentation", about: "opens beside this", act: () => void open(DOCUMENTATION, "_blank") },
  ];
}

export function Palette() {
  const words = useSignal("");
  const at = useSignal(0);
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    words.value = "";
    at.value = 0;
    if (paletteOpen.value) {
      box.current?.showModal();
      void look();
    } else box.current?.close();
  }, [paletteOpen.value]);
  useEffect(() => {
    document.getElementById(`palette-${at.value}`)?.scrollIntoView({ block: "nearest" });
  }, [at.value]);
  const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = paletteOpen.value ? entries().filter((one) => wanted.every((word) => `${one.label} ${one.about} ${one.also ?? ""}`.toLowerCase().includes(word))).slice(0, 12) : [];
  const take = (entry: Entry | undefined): void => {
    paletteOpen.value = false;
    entry?.act();
  };
  return (
    <dialog ref={box} class="palette" aria-label="Go anywhere" onClose={() => (paletteOpen.value = false)} onClick={(event) => {
      if (event.target === box.current) paletteOpen.value = false;
    }}>
      <input
        ref={field}
        type="search"
        aria-controls="palette-list"
        aria-activedescendant={found.length ? `palette-${at.value}` : undefined}
        aria-label="Where to, or what?"
        placeholder="Where to, or what?"
        value={words.value}
        onInput={(event) => {
          words.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") at.value = Math.min(at.value + 1, found.length - 1);
          else if (event.key === "ArrowUp") at.value = Math.max(at.value - 1, 0);
          else if (event.key === "Enter") take(found[at.value]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((one, index) => (
          <li key={`${one.label} ${one.about} ${index}`} id={`palette-${index}`} role="option" aria-selected={index === at.value} onClick={() => take(one)}>
            <span dir="auto">{one.label}</span><span class="soft">{one.about}</span>
          </li>
        ))}
      </ul>
      {!found.length && <p class="soft">Nothing fits. Enter does nothing, Esc closes.</p>}
    </dialog>
  );
}
