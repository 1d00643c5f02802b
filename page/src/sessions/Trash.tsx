/** What was thrown away, and back again. */
import { post } from "../api/client";
import type { TrashedSession } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { now, since } from "../parts/words";
import { base } from "../store/desk";

export function Trash() {
  const found = useAsked<readonly TrashedSession[]>(`${base.value}/trash`);
  const { busy, problem, act } = useDoing();
  const restore = (name: string) => () => void act(() => post(`${base.value}/trash/${encodeURIComponent(name)}/restore`, {})).then(found.again);
  return (
    <div class="page">
      <p class="crumb"><a href="/sessions">Sessions</a></p>
      <h1>Trash</h1>
      <Trouble problem={found.problem.value} />
      <Trouble problem={problem.value} />
      {found.found.value?.length === 0 && <p class="soft empty">It is empty.</p>}
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.name} class="thing">
            <span>{one.session} <span class="soft">{one.pipeline} {one.updated && since(one.updated, now.value)}</span></span>
            <button type="button" disabled={busy.value} onClick={restore(one.name)}>Restore</button>
          </li>
        ))}
      </ul>
    </div>
  );
}
