/** Times, sizes, money and states in the words of the terminal. */
import { signal } from "@preact/signals";
import { telling } from "./told";

/** The time, for what counts on the screen. It stands still while nothing does. */
export const now = signal(Date.now());
setInterval(() => {
  if (document.visibilityState === "visible") now.value = Date.now();
}, 1000);

export function humanMs(ms: number): string {
  if (ms < 99.5) return `${Math.max(Math.round(ms), 0)} ms`;
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

export function since(iso: string, at: number): string {
  const moment = Date.parse(iso);
  if (Number.isNaN(moment)) return iso;
  const seconds = (at - moment) / 1000;
  if (seconds < -60) return new Date(moment).toLocaleDateString();
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h ago`;
  const days = Math.floor(seconds / 86_400);
  if (days < 14) return `${days} day${days > 1 ? "s" : ""} ago`;
  return new Date(moment).toISOString().slice(0, 10);
}

export function humanSize(size: number): string {
  if (size < 1000) return `${size} B`;
  let value = size;
  for (const unit of ["kB", "MB", "GB"]) {
    value /= 1000;
    if (value < 9.95) return `${value.toFixed(1)} ${unit}`;
    if (value < 999.5) return `${Math.round(value)} ${unit}`;
  }
  return `${(value / 1000).toFixed(1)} TB`;
}

export function money(usd: number | null): string {
  if (usd === null) return "price unknown";
  return usd === 0 ? "free" : usd < 0.01 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

export function count(number: number, word: string): string {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}

export function tokens(number: number): string {
  return number < 10_000 ? count(number, "token") : `${Math.round(number / 1000).toLocaleString("en")}k tokens`;
}

/** Signs and words of states: colour never tells it alone. */
export const STATES: Readonly<Record<string, { sign: string; word: string; look: string }>> = {
  done: { sign: "✓", word: "done", look: "good" },
  completed: { sign: "✓", word: "done", look: "good" },
  running: { sign: "▸", word: "working", look: "busy" },
  working: { sign: "▸", word: "working", look: "busy" },
  skipped: { sign: "•", word: "kept", look: "quiet" },
  passed: { sign: "–", word: "passed over", look: "quiet" },
  failed: { sign: "✗", word: "failed", look: "bad" },
  interrupted: { sign: "!", word: "interrupted", look: "warn" },
  over_budget: { sign: "!", word: "over budget", look: "warn" },
  asleep: { sign: "○", word: "asleep", look: "quiet" },
  left: { sign: "!", word: "left", look: "warn" },
  cancelled: { sign: "•", word: "cancelled", look: "quiet" },
  idle: { sign: "•", word: "at rest", look: "quiet" },
  new: { sign: "○", word: "new", look: "quiet" },
  asks: { sign: "?", word: "waits for you", look: "asks" },
};

/** A step that has not begun is "to come"; a session that waits, waits for a person. */
export function stateOf(word: string, of: "session" | "step"): { sign: string; word: string; look: string } {
  if (word === "waiting") return of === "session" ? asks : { sign: "○", word: "to come", look: "quiet" };
  return STATES[word] ?? { sign: "·", word, look: "quiet" };
}

const asks = { sign: "?", word: "waits for you", look: "asks" };

/** What a call is about, in one line. */
export function callWords(input: Readonly<Record<string, unknown>>): string {
  for (const key of telling) {
    const value = input[key];
    if (typeof value === "string" && value.trim()) return value.trim().replace(/\s+/g, " ");
  }
  return Object.keys(input).length ? JSON.stringify(input) : "";
}
