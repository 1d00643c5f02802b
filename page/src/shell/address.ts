/** Addresses: every state that can be shown has one, and back and forward work. */
import { computed, signal } from "@preact/signals";

export interface Place {
  readonly name: "inbox" | "session" | "new" | "sessions" | "pipelines" | "knowledge" | "sources" | "schedules" | "models" | "settings" | "nowhere";
  /** What of it: a session's id, a pipeline's name. */
  readonly of: string;
  /** What is open inside: `step/summary`, `artifact/outline.json`, `event/412`. */
  readonly inside: readonly string[];
}

export const path = signal(location.pathname);
export const query = signal(new URLSearchParams(location.search));
export const place = computed(() => placeOf(path.value));

export function placeOf(address: string): Place {
  const [first = "", of = "", ...inside] = address.split("/").filter(Boolean).map(decodeURIComponent);
  switch (first) {
    case "":
      return { name: "inbox", of: "", inside: [] };
    case "s":
      return of ? { name: "session", of, inside } : { name: "sessions", of: "", inside: [] };
    case "new":
    case "sessions":
    case "pipelines":
    case "knowledge":
    case "sources":
    case "schedules":
    case "models":
    case "settings":
      return { name: first, of, inside };
    default:
      return { name: "nowhere", of: address, inside: [] };
  }
}

export function to(...parts: string[]): string {
  return `/${parts.map(encodeURIComponent).join("/")}`;
}

/** This place with something asked for otherwise; "" leaves it out. */
export function asking(otherwise: Readonly<Record<string, string>>): string {
  const asked = new URLSearchParams(query.value);
  for (const [name, value] of Object.entries(otherwise)) {
    if (value) asked.set(name, value);
    else asked.delete(name);
  }
  return `${location.pathname}${asked.size ? `?${asked}` : ""}`;
}

/** Go there. `quietly` takes the place of the address that is shown. */
export function go(address: string, quietly = false): void {
  const url = new URL(address, location.origin);
  if (quietly) history.replaceState(history.state, "", url);
  else {
    history.replaceState({ y: scrollY }, ""); // where one comes back to
    history.pushState(null, "", url);
  }
  arrive();
}

function arrive(): void {
  path.value = location.pathname;
  query.value = new URLSearchParams(location.search);
}

const PATIENCE_MS = 3000;

/** A list that one comes back to is where one left it, as soon as it is that long again. A session finds its own place. */
function comeBack(): void {
  const y = Number((history.state as { y?: number } | null)?.y ?? 0);
  if (!y || place.value.name === "session") return;
  const until = performance.now() + PATIENCE_MS;
  const here = location.href;
  const look = (): void => {
    if (location.href !== here || performance.now() > until) return;
    if (document.documentElement.scrollHeight >= y + innerHeight) scrollTo(0, y);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

export function listen(): void {
  history.scrollRestoration = "manual";
  addEventListener("popstate", () => {
    arrive();
    comeBack();
  });
  addEventListener("pagehide", () => history.replaceState({ y: scrollY }, ""));
  comeBack();
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a") : null;
    if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
    if (/^\/(api|frame|x|sign-in)\b/.test(link.pathname)) return;
    if (link.pathname === location.pathname && link.hash) return;
    event.preventDefault();
    const before = path.value;
    go(link.href);
    const was = placeOf(before);
    if (was.name !== place.value.name || was.of !== place.value.of || (was.name === "sessions" && query.value.has("page"))) scrollTo(0, 0);
  });
}
