/** An answer whose every sentence has a verdict: the shape that research makes, found by looking at it. */
import type { ClaimOnRecord } from "../api/made";

export type Verdict = ClaimOnRecord["verdict"];
export interface Sentence {
  readonly id: string;
  readonly text: string;
  /** Lines of code right behind it. */
  readonly code?: string;
  readonly lead?: string;
  readonly labels: readonly string[];
  readonly state: Verdict;
  readonly reason: string;
  readonly judged_by?: string;
  readonly overruled?: { readonly was: Verdict; readonly by: string; readonly why: string };
}
export interface Source {
  readonly label: string;
  readonly kind: "passage" | "web" | "earlier";
  readonly id: string;
  readonly ref: string;
  readonly title: string;
  readonly text: string;
  /** The part of it that comes nearest. */
  readonly glimpse?: string;
  readonly file?: string;
  readonly page?: number;
  readonly heading?: string;
  readonly url?: string;
  readonly session?: string;
}
export interface Answer {
  readonly original_query: string;
  readonly outcome?: string;
  readonly nothing_found: boolean;
  readonly level: string;
  readonly confidence?: number | null;
  readonly collection: { readonly name: string; readonly title: string };
  readonly sections: readonly { readonly id: string; readonly heading: string; readonly sentences: readonly Sentence[] }[];
  readonly sources: readonly Source[];
  readonly nearest: readonly Source[];
  readonly not_answered: readonly string[];
}

export function answerOf(value: unknown): Answer | null {
  if (typeof value !== "object" || value === null) return null;
  const one = value as Partial<Answer>;
  const isOne = typeof one.original_query === "string" && Array.isArray(one.sections) && Array.isArray(one.sources) &&
    one.sections.every((section) => Array.isArray(section?.sentences));
  return isOne ? { ...(value as Answer), nearest: one.nearest ?? [], not_answered: one.not_answered ?? [] } : null;
}

export const VERDICTS: Readonly<Record<Verdict, { readonly sign: string; readonly word: string; readonly means: string }>> = {
  quoted: { sign: "❝", word: "quoted", means: "A passage has it: word for word, or as the same statement in other small words." },
  judged: { sign: "◆", word: "judged", means: "Not word for word: a model read the passage and says that it bears it out." },
  contradicted: { sign: "✗", word: "contradicted", means: "A passage has the same statement with one thing changed, or a model found one that says otherwise." },
  not_checked: { sign: "?", word: "not checked", means: "No passage has it in these words, and nobody has judged it." },
};

export const sentencesOf = (answer: Answer): readonly Sentence[] => answer.sections.flatMap((section) => section.sentences);

/** By whom it has its verdict, in words. */
export function byWhom(sentence: Sentence): string {
  const said = sentence.overruled;
  if (said) return `${said.by} says so; it was ${VERDICTS[said.was].word}`;
  return sentence.judged_by ? `by ${sentence.judged_by}` : "";
}

/** A passage in pieces, those to be marked at the odd places: the sentence itself where it stands there, else words of it. */
export function marked(passage: string, sentence: string): string[] {
  const words = sentence.trim().split(/\s+/).map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const whole = new RegExp(`(${words.join("\\s+")})`, "u");
  if (whole.test(passage)) return passage.split(whole);
  const telling = words.map((word) => word.replace(/[^\p{L}\p{N}]/gu, "")).filter((word) => word.length > 4 || /\d/.test(word));
  return telling.length ? passage.split(new RegExp(`(?<![\\p{L}\\p{N}])(${telling.join("|")})(?![\\p{L}\\p{N}])`, "giu")) : [passage];
}

/** Lines that were only broken to fit a file are one again; paragraphs and lines of code stay. */
export function unwrapped(text: string): string {
  return text.split(/^([ \t]*(?:`{3,}|~{3,})[^\n]*\n[\s\S]*?^[ \t]*(?:`{3,}|~{3,})[ \t]*$)/m).map((part, index) => (index % 2 ? part : unwrappedProse(part))).join("");
}

function unwrappedProse(text: string): string {
  return text.replace(/([^\n])\n(?!\s*(\n|[-*+•|>#]|\d+[.)]))/g, "$1 ");
}
