/** Collections: what is in them, search as the engine does it, a passage with what it cites, and asking. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { CollectionRow } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useList } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count } from "../parts/words";
import { go, place, to } from "../shell/address";
import { base } from "../store/desk";
import { CollectionPage } from "./CollectionPage";

export function Knowledge() {
  return place.value.of ? <CollectionPage key={place.value.of} name={place.value.of} /> : <All />;
}

function All() {
  const found = useList<readonly CollectionRow[]>(`${base.value}/collections`);
  const name = useSignal("");
  const { problem, act } = useDoing();
  const make = (event: Event): void => {
    event.preventDefault();
    const title = name.value.trim();
    const made = slugOf(title);
    void act(() => post(`${base.value}/collections`, { name: made, ...(made === title ? {} : { title }) }).then(() => go(to("knowledge", made))));
  };
  return (
    <div class="page">
      <h1>Knowledge</h1>
      <p class="standfirst">Documents that can be searched, asked and cited. They stay on this machine.</p>
      <Trouble problem={found.problem.value} />
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.name}>
            <a class="row" href={to("knowledge", one.name)}>
              <span class="title">{one.title || one.name}</span>
              {!one.problem && <span class="facts"><span>{count(one.counts.documents ?? 0, "document")}</span><span>{count(one.counts.passages ?? 0, "passage")}</span></span>}
            </a>
            {one.problem && <p class="warning bad"><span aria-hidden="true">✗ </span>{one.problem}</p>}
          </li>
        ))}
      </ul>
      {found.found.value?.length === 0 && <p class="soft empty">No collection yet. Name one, then drop documents into it.</p>}
      <form class="inline" onSubmit={make}>
        <input aria-label="Name of a new collection" placeholder="Name of a new collection" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        <button disabled={!name.value.trim()}>Make a collection</button>
      </form>
      <Trouble problem={problem.value} />
    </div>
  );
}

/** What a folder may be called, from what a person calls it. */
function slugOf(title: string): string {
  return title.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || title;
}
