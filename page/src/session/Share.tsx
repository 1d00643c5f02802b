/** A session as a file, or behind a link that ends: what would leave is shown first. */
import { useSignal } from "@preact/signals";
import { post, remove } from "../api/client";
import type { LeavingShown, ShareMade, ShareShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count, humanSize } from "../parts/words";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

const KINDS = { html: "One page (HTML)", markdown: "Text (Markdown)", bundle: "Bundle for another Weft" } as const;
type Kind = keyof typeof KINDS;

export function Share({ open, close }: { open: OpenSession; close: () => void }) {
  const kind = useSignal<Kind>("html");
  const leaves = useAsked<LeavingShown>(`${at(open, "export", "preview")}?kind=${kind.value}`);
  const shares = useAsked<readonly ShareShown[]>(`${open.base}/shares`);
  const days = useSignal(7);
  const made = useSignal<ShareMade | null>(null);
  const { problem, act } = useDoing();
  const give = (run: () => Promise<unknown>) => (): void => void act(() => run().then(shares.again));
  const own = shares.found.value?.filter((one) => one.session === open.id) ?? [];
  const found = leaves.found.value;
  return (
    <div class="marks">
      <div class="filters" role="group" aria-label="As what">
        {(Object.keys(KINDS) as Kind[]).map((one) => <button key={one} type="button" aria-pressed={kind.value === one} onClick={() => (kind.value = one)}>{KINDS[one]}</button>)}
      </div>
      <Trouble problem={leaves.problem.value} />
      {found && (
        <div role="status">
          <p class="label">What would leave</p>
          <p>{count(found.files.length, "file")}, {humanSize(found.size)}</p>
          <Named word="names" list={found.persons} />
          <Named word="paths" list={found.paths} />
          <Named word="addresses" list={found.addresses} />
          {found.keys.length > 0 ? <p class="warning bad"><span aria-hidden="true">! </span>looks like a key: {found.keys.join(", ")}</p> : <p class="good"><span aria-hidden="true">✓ </span>nothing that looks like a key</p>}
        </div>
      )}
      {made.value && <div role="status"><p>This link shows it, read-only, to who has it; it is told this once:</p><pre class="terminal" tabIndex={0}>{new URL(made.value.address, location.origin).href}</pre></div>}
      {own.length > 0 && (
        <ul class="rows">
          {own.map((one) => (
            <li key={one.id} class="thing"><span>a link of {one.created.slice(0, 10)} <span class="soft">until {one.expires?.slice(0, 10) ?? "revoked"}</span></span>
              <button type="button" onClick={give(() => remove(`${open.base}/shares/${encodeURIComponent(one.id)}`))}>Revoke</button></li>
          ))}
        </ul>
      )}
      <Trouble problem={problem.value} />
      <div class="choices">
        <a class="button primary" href={`${at(open, "export")}?kind=${kind.value}`} download>Download</a>
        <button type="button" onClick={give(async () => (made.value = await post<ShareMade>(`${open.base}/shares`, { session: open.id, days: days.value })))}>Make a link for {count(days.value, "day")}</button>
        <input class="days" type="number" min={1} max={365} aria-label="Days" value={days.value} onInput={(event) => (days.value = Math.max(1, Number(event.currentTarget.value) || 1))} />
        <button type="button" onClick={close}>Done</button>
      </div>
    </div>
  );
}

function Named({ word, list }: { word: string; list: readonly string[] }) {
  return list.length ? <p class="small"><span class="soft">{word}: </span>{list.slice(0, 8).join(", ")}{list.length > 8 && ` and ${list.length - 8} more`}</p> : null;
}
