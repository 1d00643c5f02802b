/** Begin: drop files, paste a text or an address, or say something; with which pipeline, and with what set how. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { NewSession, PipelineShort } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useList } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count, humanSize } from "../parts/words";
import { asking, go, place, query, to } from "../shell/address";
import { base, mayChange } from "../store/desk";
import { BatchPage } from "./BatchPage";
import { begin, beginBatch } from "./begin";
import { Forecast } from "./Forecast";
import { Parameters } from "./Parameters";

/** The pack that a kit is made with: an empty workspace has none, and is given it when a kit is asked for. */
const KIT = "writing";

export function New() {
  const { of, inside } = place.value;
  return of === "batch" && inside[0] ? <BatchPage key={inside[0]} id={inside[0]} /> : <Begin />;
}

/** What a pasted text without a heading is called by: a list of "pasted" tells nobody which is which. */
function firstWords(text: string): string {
  const line = text.split("\n", 1)[0] ?? "";
  return line.replace(/[^\p{L}\p{N}\s'’-]/gu, " ").trim().split(/\s+/).slice(0, 6).join(" ").slice(0, 60);
}

export function Begin({ bare = false }: { bare?: boolean }) {
  const files = useSignal<readonly File[]>([]);
  const text = useSignal(query.value.get("q") ?? "");
  const over = useSignal(false);
  const { busy, problem, act } = useDoing();
  const pipelines = useList<readonly PipelineShort[]>(`${base.value}/pipelines`);
  const good = (pipelines.found.value ?? []).filter((one) => !one.problems.length && one.inputs.filter((input) => !input.optional).length <= 1);
  const chosen = good.find((one) => one.name === query.value.get("pipeline")) ?? good.find((one) => one.default) ?? good[0];
  const parameters = useSignal<Readonly<Record<string, unknown>>>({});
  const depth = useSignal("");
  const apart = useSignal(false);

  const take = (list: FileList | null | undefined): void => {
    if (list?.length) files.value = [...files.value, ...list];
  };
  const lacksKit = pipelines.found.value?.length === 0 && mayChange.value;
  const said = text.value.trim();
  const isAddress = /^https?:\/\/\S+$/.test(said);
  const isDocument = files.value.length > 0 || isAddress || said.length > 600 || query.value.has("pipeline");
  const wish: NewSession = {
    ...(chosen ? { pipeline: chosen.name } : lacksKit ? { pipeline: KIT } : {}), parameters: parameters.value, depth: depth.value,
    ...(files.value.length ? {} : isAddress ? { address: said } : { text: said, name: `${firstWords(said) || "pasted"}.md` }),
  };
  const run = async (): Promise<void> => {
    if (lacksKit) {
      await post(`${base.value}/packs/${KIT}`, {});
      pipelines.again();
    }
    if (!apart.value || files.value.length < 2) return begin(wish, files.value);
    const batch = await beginBatch(wish, files.value);
    go(to("new", "batch", batch.id));
  };
  return (
    <div
      class={`new ${bare ? "" : "page"} ${over.value ? "over" : ""}`}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => (over.value = false)}
      onDrop={(event) => {
        event.preventDefault();
        over.value = false;
        take(event.dataTransfer?.files);
      }}
    >
      {!bare && <h1>New</h1>}
      <label class="drop">
        <input type="file" multiple onChange={(event) => take(event.currentTarget.files)} />
        <strong>Drop a document here</strong>
        <span class="soft">or choose one: PDF, Word, EPUB, web page, captions, text</span>
      </label>
      {files.value.length > 0 ? (
        <>
          <ul class="files">
            {files.value.map((file, index) => (
              <li key={`${file.name} ${index}`}>
                <span>{file.name}</span> <span class="soft">{humanSize(file.size)}</span>
                <button type="button" class="plain" aria-label={`Take ${file.name} out`} onClick={() => (files.value = files.value.filter((one) => one !== file))}>✕</button>
              </li>
            ))}
          </ul>
          {files.value.length > 1 && (
            <div class="filters" role="group" aria-label="Several files">
              <button type="button" aria-pressed={!apart.value} onClick={() => (apart.value = false)}>read as one document</button>
              <button type="button" aria-pressed={apart.value} onClick={() => (apart.value = true)}>{count(files.value.length, "session")}, one for each</button>
            </div>
          )}
        </>
      ) : (
        <>
          <label class="label" for="words">Or paste a text or an address, or say what you want</label>
          <textarea id="words" rows={5} dir="auto" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        </>
      )}
      {!pipelines.found.value && !bare && <p class="soft small" role="status">reading the pipelines…</p>}
      {good.length > 1 && chosen && (isDocument || !bare) && (
        <fieldset class="pick">
          <legend class="label">Pipeline</legend>
          {good.map((one) => (
            <label key={one.name} class="option">
              <input type="radio" name="pipeline" checked={one === chosen} onChange={() => {
                parameters.value = {};
                depth.value = "";
                go(asking({ pipeline: one.name }), true);
              }} />
              <span><strong>{one.name}</strong> <span class="soft">{one.description}</span></span>
            </label>
          ))}
        </fieldset>
      )}
      {chosen && (isDocument || !bare) && <Parameters pipeline={chosen} values={parameters} depth={depth} />}
      {chosen && isDocument && (files.value.length > 0 || said) && <Forecast wish={wish} files={files.value} each={apart.value ? files.value.length : 1} />}
      <div class="choices">
        <button type="button" class={isDocument ? "primary" : ""} disabled={busy.value || !(files.value.length || said) || !pipelines.found.value} onClick={() => void act(run)}>
          {lacksKit ? `Add the pack ${KIT} and make a kit of it` : !chosen || chosen.name === KIT ? "Make a kit of it" : `Begin ${chosen.name}`}
        </button>
        {!files.value.length && (
          <button type="button" class={isDocument ? "" : "primary"} disabled={busy.value || !said} onClick={() => void act(() => begin({ message: said }))}>
            Talk
          </button>
        )}
        {busy.value && <span class="working" role="status">beginning</span>}
      </div>
      <Trouble problem={problem.value} />
    </div>
  );
}
