/** Words for what the page and the terminal both tell: the terminal's own. */
import words from "../../../src/weft/render/words.json";

export const interrupts: Readonly<Record<string, string>> = words.interrupts;
export const meanings: Readonly<Record<string, string>> = words.meanings;
export const replied: Readonly<Record<string, string>> = words.replied;
export const telling: readonly string[] = words.telling;
