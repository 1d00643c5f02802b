import type { Place } from "./address";

export interface Listed {
  readonly href: string;
  readonly label: string;
  readonly name: Place["name"];
  /** After `g`. */
  readonly key: string;
  /** On a phone it is behind "More". */
  readonly seldom?: boolean;
}

/** The server has it with it. */
export const DOCUMENTATION = "/docs/";

export const PLACES: readonly Listed[] = [
  { href: "/", label: "Inbox", name: "inbox", key: "i" },
  { href: "/new", label: "New", name: "new", key: "n" },
  { href: "/sessions", label: "Sessions", name: "sessions", key: "s" },
  { href: "/pipelines", label: "Pipelines", name: "pipelines", key: "p" },
  { href: "/knowledge", label: "Knowledge", name: "knowledge", key: "k" },
  { href: "/sources", label: "Sources", name: "sources", key: "o", seldom: true },
  { href: "/schedules", label: "Schedules", name: "schedules", key: "t", seldom: true },
  { href: "/models", label: "Models", name: "models", key: "c", seldom: true },
  { href: "/settings", label: "Settings", name: "settings", key: "e", seldom: true },
];
