/** An artifact beside the conversation: as it is meant to be read, as a tree, as text, its versions, and to be edited. */
import type { ArtifactText, ArtifactVersionShown, FrameAddress } from "../api/made";
import { csvRows } from "../parts/csv";
import { Html } from "../parts/Html";
import { jsonOf } from "../parts/json";
import { PdfPages } from "../parts/PdfPages";
import { SortTable } from "../parts/SortTable";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { count, humanSize } from "../parts/words";
import { go, query, to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";
import { answerOf } from "./answer";
import { AnswerView } from "./AnswerView";
import { ArtifactEditor } from "./ArtifactEditor";
import { ArtifactVersions } from "./ArtifactVersions";
import { Evident } from "./Evident";
import { JsonTree } from "./JsonTree";

type View = "page" | "read" | "tree" | "text" | "versions" | "edit";
const WORDS: Readonly<Record<View, string>> = { page: "Page", read: "Read", tree: "Tree", text: "Text", versions: "Versions", edit: "Edit" };

export function ArtifactPanel({ open, name }: { open: OpenSession; name: string }) {
  open.shown.value;
  const made = open.fold.artifacts.get(name) ?? [];
  const newest = made.at(-1)?.hash ?? "";
  const version = query.value.get("version") ?? "";
  const address = (...what: string[]): string => `${at(open, "artifacts", name, ...what)}${version ? `?version=${version}` : ""}`;
  const text = useAsked<ArtifactText>(newest ? address() : "", newest);
  const versions = useAsked<readonly ArtifactVersionShown[]>(newest ? at(open, "artifacts", name, "versions") : "", newest, open.fold.seq);
  const found = text.found.value;
  const json = found && name.endsWith(".json") ? jsonOf(found.text) : undefined;
  const answer = answerOf(json);
  const isPicture = /\.(png|jpe?g|gif|webp|avif)$/i.test(name);
  const isPdf = /\.pdf$/i.test(name);
  const isPage = name.endsWith(".html") || isPicture || isPdf;
  const rows = found && /\.(csv|tsv)$/i.test(name) ? csvRows(found.text) : null;
  const views: View[] = isPicture || isPdf ? ["page", "versions"] : [isPage ? "page" : "read", ...(json !== undefined ? ["tree" as const] : []), "text", "versions", "edit"];
  const wanted = query.value.get("as") as View | null;
  const view = wanted && views.includes(wanted) ? wanted : (views[0] ?? "read");
  const show = (one: View): void => go(`${to("s", open.id, "artifact", name)}${one === views[0] ? "" : `?as=${one}`}`, true);
  const last = made.at(-1);
  return (
    <div class="artifact">
      <header>
        <h2>{name}</h2>
        <p class="soft">
          {[last && `made by ${last.step}`, versions.found.value && versions.found.value.length > 1 && count(versions.found.value.length, "version"), last && humanSize(last.size)].filter(Boolean).join(" · ")}
          {newest && <>{" · "}<a href={at(open, "artifacts", name, "raw")} download={name}>Download</a></>}
        </p>
        <div class="tabs" role="tablist" aria-label="How it is shown">
          {views.map((one) => <button key={one} type="button" role="tab" aria-selected={view === one} onClick={() => show(one)}>{WORDS[one]}</button>)}
        </div>
      </header>
      {!newest && open.caughtUp.value && <p class="soft">There is no artifact of this name yet.</p>}
      <Trouble problem={text.problem.value} />
      {version && <p class="warning">An earlier version. <a href={to("s", open.id, "artifact", name)}>To the current one</a></p>}
      {found?.edited && !version && view !== "edit" && (
        <p class="warning"><span aria-hidden="true">! </span>Its file was changed by hand since the step made it. <button type="button" class="plain" onClick={() => show("edit")}>What would that re-run?</button></p>
      )}
      {newest && view === "page" && isPdf && <PdfPages key={newest + version} address={address("raw")} name={name} />}
      {newest && view === "page" && !isPdf && <Framed key={newest + version} address={address("frame")} name={name} />}
      {found && view === "read" && (json === undefined
        ? rows ? <Rows rows={rows} /> : <Html look="formatted document" html={found.html} />
        : answer ? <AnswerView answer={answer} session={open.id} artifact={name} /> : <Evident open={open} value={json} />)}
      {found && view === "tree" && <JsonTree value={json} />}
      {found && view === "text" && <div class="formatted code" dangerouslySetInnerHTML={{ __html: found.html.startsWith("<pre") ? found.html : "" }} />}
      {found && view === "text" && !found.html.startsWith("<pre") && <pre class="result" tabIndex={0}>{found.text}</pre>}
      {view === "versions" && versions.found.value && <ArtifactVersions open={open} name={name} versions={versions.found.value} />}
      {found && view === "edit" && <ArtifactEditor key={name} open={open} name={name} text={found} step={last?.step ?? ""} saved={text.again} />}
    </div>
  );
}

const MOST_ROWS = 1000;

function Rows({ rows }: { rows: readonly string[][] }) {
  const [head = [], ...body] = rows;
  return (
    <>
      <SortTable names={head} rows={body.slice(0, MOST_ROWS)} value={(row, column) => row[column]} cell={(row, column) => row[column]} />
      <p class="soft small">{count(body.length, "row")}{body.length > MOST_ROWS && `, the first ${MOST_ROWS.toLocaleString("en")} shown`}</p>
    </>
  );
}

/** Others' markup, in an origin of its own. */
function Framed({ address, name }: { address: string; name: string }) {
  const frame = useAsked<FrameAddress>(address);
  if (frame.problem.value) return <Trouble problem={frame.problem.value} />;
  if (!frame.found.value) return <p class="soft loading" role="status">opening…</p>;
  return <iframe title={name} sandbox="allow-scripts" src={frame.found.value.address} />;
}
