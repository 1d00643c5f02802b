/** Another session that shares everything up to an event, and goes its own way from there. */
import { post } from "../api/client";
import type { Begun } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { go, to } from "../shell/address";
import { mayRun } from "../store/desk";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

export function Fork({ open, after }: { open: OpenSession; after: () => number }) {
  const { busy, problem, act } = useDoing();
  const fork = (): void => void act(() => post<Begun>(at(open, "fork"), { at: after() }).then((made) => go(to("s", made.session))));
  if (!mayRun.value) return null;
  return (
    <>
      <button type="button" class="plain" disabled={busy.value} title="Another session that shares everything up to here" onClick={fork}>Fork from here</button>
      <Trouble problem={problem.value} />
    </>
  );
}
