/** Search as the engine does it: by words, by meaning, or both, and why each hit is one. */
import type { PassagesFound } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { asking, go, query, to } from "../shell/address";

const MODES = ["both", "words", "meaning"] as const;

export function Search({ address, collection }: { address: string; collection: string }) {
  const q = query.value.get("q") ?? "";
  const mode = query.value.get("mode") ?? "both";
  const found = useAsked<PassagesFound>(q.trim() ? `${address}/search?${new URLSearchParams({ q, mode, limit: "12" })}` : "");
  const set = (name: string, value: string): void => go(asking({ [name]: value }), true);
  const best = Math.max(...(found.found.value?.hits.map((hit) => hit.score) ?? [1]), 0.0001);
  return (
    <section aria-label="Search" class="library">
      <input type="search" aria-label="Search in the passages" placeholder="Search in the passages" value={q} onInput={(event) => set("q", event.currentTarget.value)} />
      <div class="filters" role="group" aria-label="How to search">
        {MODES.map((one) => <button key={one} type="button" aria-pressed={mode === one} onClick={() => set("mode", one === "both" ? "" : one)}>{one === "both" ? "words and meaning" : one}</button>)}
      </div>
      <Trouble problem={found.problem.value} />
      {q && found.found.value?.warnings.map((text) => <p key={text} class="warning">{text}</p>)}
      {q && found.found.value?.hits.length === 0 && <p class="soft">Nothing found.</p>}
      {q && (
        <ol class="passage-hits">
          {found.found.value?.hits.map((hit) => (
            <li key={hit.id}>
              <p class="where"><a href={`${to("knowledge", collection, "passage", hit.ref || hit.id)}${location.search}`}>{hit.ref || hit.document}</a> <span class="soft">{[hit.heading, hit.page ? `page ${hit.page}` : "", hit.tier].filter(Boolean).join(" · ")}</span></p>
              <p dir="auto" class="said-there">{marked(hit.text, hit.words)}</p>
              <p class="soft small">
                <span class="bar score" role="img" aria-label={`score ${hit.score.toFixed(3)}`}><i style={{ width: `${(hit.score / best) * 100}%` }} /></span>
                {[hit.words.length ? `has: ${hit.words.join(", ")}` : "", hit.likeness != null ? `likeness ${hit.likeness.toFixed(2)}` : "", hit.paths.length ? `by ${hit.paths.join(" and ")}` : ""].filter(Boolean).join(" · ")}
              </p>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

/** The words that made it a hit, marked. */
function marked(text: string, words: readonly string[]) {
  const wanted = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).filter(Boolean);
  if (!wanted.length) return text;
  return text.split(new RegExp(`(?<!\\p{L})(${wanted.join("|")})(?!\\p{L})`, "giu")).map((part, index) => (index % 2 ? <mark key={index}>{part}</mark> : part));
}
