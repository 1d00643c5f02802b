/** An artifact: to be read, as a tree, as text, with its versions. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { get, problemOf, type Problem } from "../api/client";
import type { ArtifactText } from "../api/made";
import { Value } from "../asks/Value";
import { Trouble } from "../parts/Trouble";
import { humanSize } from "../parts/words";
import type { OpenSession } from "../store/open";
import { JsonTree } from "./JsonTree";

type View = "read" | "tree" | "text";

export function ArtifactPanel({ open, name }: { open: OpenSession; name: string }) {
  open.shown.value;
  const found = useSignal<ArtifactText | null>(null);
  const problem = useSignal<Problem | null>(null);
  const view = useSignal<View>("read");
  const versions = open.fold.artifacts.get(name) ?? [];
  const newest = versions.at(-1)?.hash ?? "";
  useEffect(() => {
    if (!newest) return;
    void get<ArtifactText>(`${open.base}/sessions/${encodeURIComponent(open.id)}/artifacts/${encodeURIComponent(name)}`).then(
      (text) => {
        found.value = text;
        problem.value = null;
      },
      (error: unknown) => (problem.value = problemOf(error)),
    );
  }, [name, newest]);
  const text = found.value;
  const json = text && name.endsWith(".json") ? parsed(text.text) : undefined;
  const views: View[] = json === undefined ? ["read", "text"] : ["read", "tree", "text"];
  return (
    <div class="artifact">
      <header>
        <h2>{name}</h2>
        <p class="soft">{[versions.at(-1)?.step && `made by ${versions.at(-1)?.step}`, versions.length > 1 && `${versions.length} versions`, versions.at(-1) && humanSize(versions.at(-1)?.size ?? 0)].filter(Boolean).join(" · ")}</p>
        <div class="tabs" role="tablist" aria-label="How it is shown">
          {views.map((one) => (
            <button key={one} type="button" role="tab" aria-selected={view.value === one} onClick={() => (view.value = one)}>
              {{ read: "Read", tree: "Tree", text: "Text" }[one]}
            </button>
          ))}
        </div>
      </header>
      {problem.value && <Trouble problem={problem.value} />}
      {text?.edited && <p class="warning"><span aria-hidden="true">! </span>Its file was changed by hand since the step made it.</p>}
      {text && view.value === "read" && (json === undefined
        ? <div class="formatted document" dangerouslySetInnerHTML={{ __html: text.html }} />
        : <div class="document"><Value value={json} /></div>)}
      {text && view.value === "tree" && <JsonTree value={json} />}
      {text && view.value === "text" && (name.endsWith(".md") ? <pre class="result" tabIndex={0}>{text.text}</pre>
        : <div class="formatted code" dangerouslySetInnerHTML={{ __html: text.html }} />)}
    </div>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
