/** Begin: drop files, paste a text or an address, or say something. */
import { useSignal } from "@preact/signals";
import { problemOf, type Problem } from "../api/client";
import { Trouble } from "../parts/Trouble";
import { humanSize } from "../parts/words";
import { begin } from "./begin";

export function New({ bare = false }: { bare?: boolean }) {
  const files = useSignal<readonly File[]>([]);
  const text = useSignal("");
  const over = useSignal(false);
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);

  const start = async (run: () => Promise<void>): Promise<void> => {
    busy.value = true;
    problem.value = null;
    try {
      await run();
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
  };
  const take = (list: FileList | null | undefined): void => {
    if (list?.length) files.value = [...files.value, ...list];
  };
  const said = text.value.trim();
  const isAddress = /^https?:\/\/\S+$/.test(said);
  const isDocument = files.value.length > 0 || isAddress || said.length > 600;
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
        <span class="soft">or choose one: PDF, Word, EPUB, web page, captions, text. Several are read as one.</span>
      </label>
      {files.value.length > 0 && (
        <ul class="files">
          {files.value.map((file, index) => (
            <li key={`${file.name} ${index}`}>
              <span>{file.name}</span> <span class="soft">{humanSize(file.size)}</span>
              <button type="button" class="plain" aria-label={`Take ${file.name} out`} onClick={() => (files.value = files.value.filter((one) => one !== file))}>✕</button>
            </li>
          ))}
        </ul>
      )}
      {!files.value.length && (
        <>
          <label class="label" for="words">Or paste a text or an address, or say what you want</label>
          <textarea id="words" rows={5} dir="auto" value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
        </>
      )}
      <div class="choices">
        <button
          type="button"
          class={isDocument ? "primary" : ""}
          disabled={busy.value || !(files.value.length || said)}
          onClick={() => void start(() => begin(isAddress ? { address: said } : files.value.length ? {} : { text: said, name: "pasted.md" }, files.value))}
        >
          Make a kit of it
        </button>
        {!files.value.length && (
          <button type="button" class={isDocument ? "" : "primary"} disabled={busy.value || !said} onClick={() => void start(() => begin({ message: said }))}>
            Talk
          </button>
        )}
        {busy.value && <span class="working" role="status">beginning</span>}
      </div>
      {problem.value && <Trouble problem={problem.value} />}
    </div>
  );
}
