/** Collections: what is in them, search as the engine does it, a passage with what it cites, and asking. */
import { useSignal } from "@preact/signals";
import { post, problemOf, type Problem } from "../api/client";
import type { CollectionShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { count } from "../parts/words";
import { go, place, to } from "../shell/address";
import { base } from "../store/desk";
import { CollectionPage } from "./CollectionPage";

export function Knowledge() {
  return place.value.of ? <CollectionPage key={place.value.of} name={place.value.of} /> : <All />;
}

function All() {
  const found = useAsked<readonly CollectionShown[]>(`${base.value}/collections`);
  const name = useSignal("");
  const problem = useSignal<Problem | null>(null);
  const make = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await post(`${base.value}/collections`, { name: name.value.trim() });
      go(to("knowledge", name.value.trim()));
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  return (
    <div class="page">
      <h1>Knowledge</h1>
      <p class="standfirst">Documents that can be searched, asked and cited. They stay on this machine.</p>
      {found.problem.value && <Trouble problem={found.problem.value} />}
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.name}>
            <a class="row" href={to("knowledge", one.name)}>
              <span class="title">{one.title || one.name}</span>
              <span class="facts">{Object.entries(one.counts).map(([word, number]) => <span key={word}>{number.toLocaleString("en")} {word}</span>)}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.found.value?.length === 0 && <p class="soft empty">No collection yet. Name one, then drop documents into it.</p>}
      <form class="inline" onSubmit={(event) => void make(event)}>
        <input aria-label="Name of a new collection" placeholder="a-new-collection" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
        <button disabled={!name.value.trim()}>Make a collection</button>
      </form>
      {problem.value && <Trouble problem={problem.value} />}
      {(found.found.value?.length ?? 0) > 1 && <p class="soft small">{count(found.found.value?.length ?? 0, "collection")}</p>}
    </div>
  );
}
