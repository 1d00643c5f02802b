/** A document of the session, at the passage that something rests on. */
import { useEffect, useRef } from "preact/hooks";
import type { DocumentText, PlaceShown } from "../api/made";
import { Opens } from "../parts/Opens";
import { PdfPages } from "../parts/PdfPages";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { count } from "../parts/words";
import { query } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

/** Paragraphs by where they begin and end. */
function blocksOf(text: string): [number, number][] {
  const found: [number, number][] = [];
  for (const one of text.matchAll(/(?:[^\n]|\n(?!\s*\n))+/g)) if (one[0].trim()) found.push([one.index, one.index + one[0].length]);
  return found;
}

export function SourcePanel({ open, input }: { open: OpenSession; input: string }) {
  const quote = query.value.get("quote") ?? "";
  const [start, end] = [query.value.get("start"), query.value.get("end")];
  const wanted = quote ? new URLSearchParams({ quote }) : start && end ? new URLSearchParams({ start, end }) : null;
  const document = useAsked<DocumentText>(at(open, "documents", input));
  const place = useAsked<PlaceShown>(wanted ? `${at(open, "documents", input, "place")}?${wanted}` : "");
  const mark = useRef<HTMLElement>(null);
  const found = document.found.value;
  const spot = place.found.value;
  useEffect(() => mark.current?.scrollIntoView({ block: "center" }), [found, spot]);
  return (
    <div class="source">
      <header>
        <h2 dir="auto">{found?.title || input}</h2>
        {found && (
          <p class="soft">
            {[found.author, found.published, found.kind, count(found.words, "word")].filter(Boolean).join(" · ")}
            {found.originals.length > 0 && <>{" · "}<a href={at(open, "documents", input, "original")} download>The original</a></>}
          </p>
        )}
      </header>
      <Trouble problem={document.problem.value} />
      {spot && (
        <p class="good"><span aria-hidden="true">❝ </span>{quote ? "quoted: it stands there word for word" : "this is what it comes from"}{spot.page != null && `, on page ${spot.page}`}{spot.heading && `, under “${spot.heading}”`}</p>
      )}
      {quote && place.problem.value && <p class="warning"><span aria-hidden="true">? </span>not found in this document word for word: “{quote}”</p>}
      {found?.originals.some((one) => /\.pdf$/i.test(one)) && (
        <Printed address={at(open, "documents", input, "original")} page={spot?.page ?? null} name={found.title || input} />
      )}
      {found && (spot ? (
        <div class="passages" dir="auto">
          {blocksOf(found.text).map(([from, to]) => (
            <p key={from}>
              {spot.end <= from || spot.start >= to ? found.text.slice(from, to) : (
                <>{found.text.slice(from, Math.max(from, spot.start))}<mark ref={mark}>{found.text.slice(Math.max(from, spot.start), Math.min(to, spot.end))}</mark>{found.text.slice(Math.min(to, spot.end), to)}</>
              )}
            </p>
          ))}
        </div>
      ) : <div class="formatted document" dangerouslySetInnerHTML={{ __html: found.html }} />)}
    </div>
  );
}

/** The page that it stands on, as it looks; drawn when one wants to see it. */
function Printed({ address, page, name }: { address: string; page: number | null; name: string }) {
  return (
    <Opens title={page === null ? "The pages as they are printed" : `Page ${page} as it is printed`} look="printed">
      <PdfPages address={address} first={page ?? 1} name={name} />
    </Opens>
  );
}
