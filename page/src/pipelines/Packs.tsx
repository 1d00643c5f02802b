/** The packs that come with Weft: what is in the workspace of each, and what was changed there. */
import { post } from "../api/client";
import type { PackShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useList } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count } from "../parts/words";
import { base, mayChange } from "../store/desk";

export function Packs({ laid }: { laid: () => void }) {
  const found = useList<readonly PackShown[]>(`${base.value}/packs`);
  const { busy, problem, act } = useDoing();
  const lay = (name: string): void => void act(async () => {
    await post(`${base.value}/packs/${encodeURIComponent(name)}`, {});
    found.again();
    laid();
  });
  if (!found.found.value) return null;
  return (
    <section class="library" aria-label="Packs">
      <h2 class="label">Packs</h2>
      <Trouble problem={problem.value} />
      <ul class="rows">
        {found.found.value.map((one) => {
          const files = Object.entries(one.differences).filter(([, state]) => state !== "same");
          const isLaid = Object.values(one.differences).includes("same");
          const own = files.filter(([, state]) => state === "changed by you").length;
          return (
            <li key={one.name} class="thing">
              <div>
                <span class="title">{one.name}</span> <span class="described">{one.description}</span>
                {isLaid && files.length > 0 && (
                  <details class="overrule"><summary>{own === files.length ? `${count(own, "file")} of your own making` : `${count(files.length, "file")} not as in the pack`}</summary>
                    <ul class="plainlist small">{files.map(([file, state]) => <li key={file}><code>{file}</code> <span class="soft">{state}</span></li>)}</ul>
                  </details>
                )}
              </div>
              {mayChange.value && files.length > own && (
                <button type="button" disabled={busy.value} onClick={() => lay(one.name)}>{isLaid ? "Bring up to date" : "Add"}</button>
              )}
            </li>
          );
        })}
      </ul>
      <p class="soft small">What you changed yourself is kept.</p>
    </section>
  );
}
