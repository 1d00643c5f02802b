/** Every version there was, who made it, and the difference between any two. */
import { useSignal } from "@preact/signals";
import type { ArtifactDifference, ArtifactVersionShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { humanSize, now, since } from "../parts/words";
import { to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

export function ArtifactVersions({ open, name, versions }: { open: OpenSession; name: string; versions: readonly ArtifactVersionShown[] }) {
  const there = versions.filter((one) => one.there);
  const chosen = useSignal({ before: "", after: "" });
  const after = chosen.value.after || (there[0]?.hash ?? "");
  const before = chosen.value.before || (there[1]?.hash ?? "");
  const differs = useAsked<ArtifactDifference>(before && after
    ? `${at(open, "artifacts", name, "difference")}?${new URLSearchParams({ before, after })}` : "");
  return (
    <div class="versions">
      <table>
        <thead><tr><th scope="col">Before</th><th scope="col">After</th><th scope="col">Version</th></tr></thead>
        <tbody>
          {versions.map((one) => (
            <tr key={`${one.seq} ${one.hash}`}>
              <td><input type="radio" name="before" aria-label={`compare from ${one.hash.slice(0, 8)}`} disabled={!one.there} checked={before === one.hash} onChange={() => (chosen.value = { ...chosen.value, before: one.hash })} /></td>
              <td><input type="radio" name="after" aria-label={`compare to ${one.hash.slice(0, 8)}`} disabled={!one.there} checked={after === one.hash} onChange={() => (chosen.value = { ...chosen.value, after: one.hash })} /></td>
              <td>
                <a href={`${to("s", open.id, "artifact", name)}?version=${one.hash}`}><code>{one.hash.slice(0, 8)}</code></a>{" "}
                {one.how}{one.step && ` by ${one.step}`}{one.attempt > 1 && `, attempt ${one.attempt}`}{one.by.kind === "person" && ` · ${one.by.name || "you"}`}
                <span class="soft"> {one.at && since(one.at, now.value)}{one.size != null && ` · ${humanSize(one.size)}`}{one.current && " · current"}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Trouble problem={differs.problem.value} />
      {there.length < 2 ? <p class="soft">There is one version: nothing to compare yet.</p>
        : differs.found.value && <div class="formatted code" dangerouslySetInnerHTML={{ __html: differs.found.value.html }} />}
    </div>
  );
}
