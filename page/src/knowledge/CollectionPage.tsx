/** One collection: ask it, search it, add to it. */
import { useSignal } from "@preact/signals";
import { newKey, post, remove, upload } from "../api/client";
import type { Begun, CollectionDocuments, Job } from "../api/made";
import { NotHere } from "../parts/NotHere";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { useJob } from "../parts/useJob";
import { count } from "../parts/words";
import { go, place, to } from "../shell/address";
import { base } from "../store/desk";
import { PassagePanel } from "./PassagePanel";
import { Search } from "./Search";

export function CollectionPage({ name }: { name: string }) {
  const address = `${base.value}/collections/${encodeURIComponent(name)}`;
  const asked = useAsked<CollectionDocuments>(address);
  const found = asked.found.value;
  const [kind, ref] = place.value.inside;
  if (asked.problem.value) return <NotHere title={name} problem={asked.problem.value} href="/knowledge" back="Knowledge" />;
  if (!found) return <div class="page"><p class="soft loading" role="status">opening…</p></div>;
  const panel = kind === "passage" && ref ? <PassagePanel key={ref} address={address} collection={name} passage={ref} /> : null;
  return (
    <div class={`session ${panel ? "with-panel" : ""}`}>
      <div class="page collection">
        <p class="crumb"><a href="/knowledge">Knowledge</a></p>
        <h1>{found.title || found.name}</h1>
        {found.documents.length > 0 && <Ask address={address} />}
        {found.documents.length > 0 && <Search address={address} collection={name} />}
        <Documents address={address} found={found} again={asked.again} />
      </div>
      {panel && <aside class="panel" aria-label="Passage"><a class="close" href={to("knowledge", name)} aria-label="Close">✕</a>{panel}</aside>}
    </div>
  );
}

function Ask({ address }: { address: string }) {
  const question = useSignal("");
  const { busy, problem, act } = useDoing();
  const ask = (pipeline: "ask" | "research"): void => void act(async () => {
    const begun = await post<Begun>(`${address}/ask`, { question: question.value.trim(), pipeline, key: newKey() });
    go(to("s", begun.session));
  });
  return (
    <form class="askbox" onSubmit={(event) => {
      event.preventDefault();
      ask("ask");
    }}>
      <label class="label" for="question">Ask</label>
      <textarea id="question" rows={2} dir="auto" placeholder="A question to these documents" value={question.value} onInput={(event) => (question.value = event.currentTarget.value)} />
      <div class="choices">
        <button class="primary" disabled={!question.value.trim() || busy.value}>Ask</button>
        <button type="button" disabled={!question.value.trim() || busy.value} onClick={() => ask("research")}>Research it</button>
        <span class="soft small">Each sentence of the answer leads to its passage.</span>
      </div>
      <Trouble problem={problem.value} />
    </form>
  );
}

function Documents({ address, found, again }: { address: string; found: CollectionDocuments; again: () => void }) {
  const { job, problem, begin, act } = useJob(again);
  const add = (files: FileList | null): void => {
    if (!files?.length) return;
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    void begin(upload<Job>(`${address}/documents`, form));
  };
  return (
    <section aria-label="Documents" class="library">
      <h2 class="label">{count(found.documents.length, "document")}</h2>
      <label class="drop small-drop" onDragOver={(event) => event.preventDefault()} onDrop={(event) => {
        event.preventDefault();
        add(event.dataTransfer?.files ?? null);
      }}>
        <input type="file" multiple onChange={(event) => add(event.currentTarget.files)} />
        <strong>Drop documents here to add them</strong>
      </label>
      {job.value && (
        <div role="status">
          {job.value.state === "working" ? <p class="working">{job.value.at || "reading"} <progress max={job.value.total || 1} value={job.value.done} /></p>
            : <p class={job.value.state === "failed" ? "warning bad" : "good"}>{job.value.state === "failed" ? "✗ it failed" : "✓ added"}</p>}
          {job.value.notes.map((note) => <p key={note} class="soft small">{note}</p>)}
        </div>
      )}
      <Trouble problem={problem.value} />
      <ul class="rows">
        {found.documents.map((one) => (
          <li key={one.file} class="thing">
            <span><span class="title">{one.title || one.file}</span> <span class="described">{[one.title ? one.file : "", one.tier, one.pages ? count(one.pages, "page") : "", count(one.passages, "passage")].filter(Boolean).join(" · ")}</span>
              {one.notes.map((note) => <span key={note} class="warning small"> {note}</span>)}
            </span>
            <button type="button" class="plain" onClick={() => {
              if (confirm(`Take ${one.file} out of the collection?`))
                void act(() => remove(`${address}/documents/${encodeURIComponent(one.file)}`).then(again));
            }}>Take out</button>
          </li>
        ))}
      </ul>
    </section>
  );
}
