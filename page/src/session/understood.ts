import type { WordsUnderstood } from "../api/made";
import { meanings } from "../parts/told";

/** What a run made of a person's words, for them. */
export function understoodWords(event: WordsUnderstood): string {
  const { meaning, choice, text, reason } = event;
  if (meaning === "refused") return `${choice ? `${choice}, but it can't be done: ` : ""}${reason}${text ? `; ${text}` : ""}`;
  const meant = text ? `${choice}: ${text}` : choice;
  const said = meaning === "reply" ? meant : meaning === "confirm" ? `perhaps ${meant}` : (meanings[meaning] ?? meaning);
  return reason ? `${said} (${reason})` : said;
}
