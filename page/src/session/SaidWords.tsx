/** What the person said, with what they gave with it; and the way back to before it. */
import { useSignal } from "@preact/signals";
import { useAnswering } from "../asks/answering";
import type { Sheet } from "../api/made";
import { Opens } from "../parts/Opens";
import { PdfPages } from "../parts/PdfPages";
import { SortTable } from "../parts/SortTable";
import { useAsked } from "../parts/useAsked";
import { Trouble } from "../parts/Trouble";
import { humanSize } from "../parts/words";
import type { OpenSession } from "../store/open";
import type { Said } from "../store/session";
import { at } from "./addresses";
import { understoodWords } from "./understood";

export function SaidWords({ item, open }: { item: Said; rev: number; open: OpenSession }) {
  return (
    <article aria-label="You said" class={`said ${item.queued ? "queued" : ""} ${item.undone ? "undone" : ""}`} id={`e${item.seq}`}>
      {item.attached.length > 0 && <ul class="attached">{item.attached.map((one, index) => <Attached key={index} one={one} open={open} />)}</ul>}
      <p dir="auto">{item.text}</p>
      {item.queued && <span class="soft small">kept for the next turn</span>}
      {item.understood && item.understood.meaning !== "not for it" && <span class="soft small">understood: {understoodWords(item.understood)}</span>}
      {item.undone ? <span class="soft small">taken back</span> : <Back item={item} open={open} />}
    </article>
  );
}

function Attached({ one, open }: { one: Readonly<Record<string, unknown>>; open: OpenSession }) {
  const name = String(one.name ?? one.file ?? "");
  const file = typeof one.file === "string" ? one.file.replace(/^attachments\//, "") : "";
  if (!file) return <li><span class="file">@{name}</span></li>;
  const address = at(open, "attachments", file);
  return (
    <li>
      {/^image\/(png|jpeg|gif|webp)$/.test(String(one.media_type)) ? (
        <a href={address} download={name}><img src={address} alt={name} loading="lazy" /></a>
      ) : one.media_type === "application/pdf" ? <Opens title={name} look="opens"><PdfPages address={address} name={name} /></Opens>
        : /\.xlsx$/i.test(file) ? <Opens title={name} look="opens"><Sheets address={address} /></Opens> : (
        <a class="file" href={address} download={name}>{name}{typeof one.size === "number" ? ` · ${humanSize(one.size)}` : ""}</a>
      )}
    </li>
  );
}

function Sheets({ address }: { address: string }) {
  const asked = useAsked<readonly Sheet[]>(`${address}/sheets`);
  if (asked.problem.value) return <Trouble problem={asked.problem.value} />;
  return (
    <>
      {asked.found.value?.map((sheet) => {
        const [head = [], ...rows] = sheet.rows;
        return (
          <section key={sheet.name} aria-label={sheet.name}>
            <h3>{sheet.name}</h3>
            <SortTable names={head} rows={rows} value={(row, column) => row[column]} cell={(row, column) => row[column]} />
            {sheet.all_rows > sheet.rows.length && <p class="soft small">the first {sheet.rows.length.toLocaleString("en")} of {sheet.all_rows.toLocaleString("en")} rows</p>}
          </section>
        );
      })}
      <p class="small"><a href={address} download>The file itself</a></p>
    </>
  );
}

/** Going back changes files too: that is said before it is done. */
function Back({ item, open }: { item: Said; open: OpenSession }) {
  const asked = useSignal(false);
  const answering = useAnswering(open.base, open.id);
  const { items, talk } = open.fold;
  if (item.queued || !talk.main || item.understood) return null;
  const later = items.filter((one) => one.kind === "said" && !one.undone && !one.understood && one.seq >= item.seq).length;
  const go = async (): Promise<void> => {
    if (await answering.give({ type: "rewind", messages: later })) asked.value = false;
  };
  return (
    <span class={asked.value ? "back" : "back small"}>
      {asked.value ? (
        <>
          The model forgets this and what came after, and files that it changed since are as they were before.{" "}
          <button type="button" class="plain" disabled={answering.busy.value} onClick={() => void go()}>Go back</button>{" "}
          <button type="button" class="plain" onClick={() => (asked.value = false)}>Leave it</button>
        </>
      ) : <button type="button" class="plain" aria-label="Go back to before this" title="Go back to before this" onClick={() => (asked.value = true)}>Back</button>}
      <Trouble problem={answering.problem.value} />
    </span>
  );
}
