/** A passage, what it cites, and what that cites. */
import type { HopShown, PassageShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { count } from "../parts/words";
import { to } from "../shell/address";

export function PassagePanel({ address, collection, passage }: { address: string; collection: string; passage: string }) {
  const found = useAsked<PassageShown>(`${address}/passages/${encodeURIComponent(passage)}`);
  const hops = useAsked<readonly HopShown[]>(`${address}/hops/${encodeURIComponent(passage)}`);
  const shown = found.found.value?.passage;
  return (
    <div>
      <header>
        <h2>{shown?.ref || passage}</h2>
        {shown && <p class="soft">{[shown.document, shown.heading, shown.page ? `page ${shown.page}` : "", shown.tier].filter(Boolean).join(" · ")}</p>}
      </header>
      <Trouble problem={found.problem.value} />
      {shown && <p class="passages" dir="auto">{shown.text}</p>}
      {(hops.found.value?.length ?? 0) > 0 && (
        <section aria-label="What it refers to" class="library">
          <h2 class="label">What it refers to</h2>
          <ol class="passage-hits">
            {hops.found.value?.map((one) => (
              <li key={one.id}>
                <p class="where"><a href={to("knowledge", collection, "passage", one.ref || one.id)}>{one.ref || one.document}</a> <span class="soft">{count(one.hops, "hop")} · {one.score.toFixed(2)}</span></p>
                <p dir="auto" class="said-there">{one.text.slice(0, 400)}{one.text.length > 400 ? "…" : ""}</p>
              </li>
            ))}
          </ol>
        </section>
      )}
      {hops.found.value?.length === 0 && <p class="soft">It refers to no other passage of the collection.</p>}
    </div>
  );
}
