import type { WordsUnderstood } from "../api/made";

const SAID: Readonly<Record<string, string>> = {
  breakout: "you seem to want something else", stay: "stay with the run", leave: "leave the run", yes: "yes", no: "no",
  resume: "go on with the run", fresh: "start afresh", "not for it": "not for the run", unclear: "not clear",
  "change?": "what should be changed?", "fresh?": "start afresh?", "gate?": "which gate?",
};

/** What a run made of a person's words, for them. */
export function understoodWords(event: WordsUnderstood): string {
  const meant = event.text ? `${event.choice}: ${event.text}` : event.choice;
  const said = event.meaning === "reply" ? meant : event.meaning === "confirm" ? `perhaps ${meant}`
    : event.meaning === "refused" ? `${event.choice}, but it can't be done` : (SAID[event.meaning] ?? event.meaning);
  return event.reason ? `${said} (${event.reason})` : said;
}
