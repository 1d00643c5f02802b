/** Another session that shares everything up to an event, and goes its own way from there. */
import { useSignal } from "@preact/signals";
import { post, problemOf, type Problem } from "../api/client";
import type { Begun } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { go, to } from "../shell/address";
import { me } from "../store/desk";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";

export function Fork({ open, after }: { open: OpenSession; after: () => number }) {
  const busy = useSignal(false);
  const problem = useSignal<Problem | null>(null);
  const fork = async (): Promise<void> => {
    busy.value = true;
    try {
      const made = await post<Begun>(at(open, "fork"), { at: after() });
      go(to("s", made.session));
    } catch (error) {
      problem.value = problemOf(error);
    } finally {
      busy.value = false;
    }
  };
  if (me.value?.role !== "administer" && me.value?.role !== "run") return null;
  return (
    <>
      <button type="button" class="plain" disabled={busy.value} title="Another session that shares everything up to here" onClick={() => void fork()}>Fork from here</button>
      {problem.value && <Trouble problem={problem.value} />}
    </>
  );
}
