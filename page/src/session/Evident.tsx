/** An artifact's values, each that stands in the source word for word with a way to its place there. */
import type { DocumentShown, DocumentText } from "../api/made";
import { Sourced, Value } from "../asks/Value";
import { useAsked } from "../parts/useAsked";
import { to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

const FEWEST_WORDS = 4;

export function Evident({ open, value }: { open: OpenSession; value: unknown }) {
  const documents = useAsked<readonly DocumentShown[]>(at(open, "documents"));
  const first = documents.found.value?.[0];
  const source = useAsked<DocumentText>(first ? at(open, "documents", first.input) : "");
  const text = source.found.value ? plain(source.found.value.text) : "";
  const link = (place: Record<string, string>): string => `${to("s", open.id, "source", first?.input ?? "")}?${new URLSearchParams(place)}`;
  const sourced = {
    quote: (said: string) => text && said.split(/\s+/).length >= FEWEST_WORDS && text.includes(plain(said)) ? link({ quote: said }) : null,
    span: (start: number, end: number) => (first ? link({ start: String(start), end: String(end) }) : null),
  };
  return <div class="document"><Sourced.Provider value={sourced}><Value value={value} /></Sourced.Provider></div>;
}

/** Without what differs between a text and a quotation of it: spaces, the form of quotation marks. */
export function plain(text: string): string {
  return text.replace(/[\s_*]+/g, " ").replace(/[“”„«»]/g, '"').replace(/[‘’]/g, "'").trim();
}
