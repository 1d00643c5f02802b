/** What goes on in the background, each with its end. */
import { useAnswering } from "../asks/answering";
import { humanMs, now } from "../parts/words";
import { Trouble } from "../parts/Trouble";
import type { OpenSession } from "../store/open";

export function Processes({ open }: { open: OpenSession }) {
  open.shown.value;
  const answering = useAnswering(open.base, open.id);
  const going = [...open.fold.processes.values()];
  if (!going.length) return null;
  return (
    <section class="processes" aria-label="In the background">
      <ul>
        {going.map((one) => (
          <li key={one.process}>
            <span class="sign" aria-hidden="true">▸</span>
            <span class="label">{one.process}</span>
            <code>{one.command}</code>
            <span class="soft">{humanMs(Math.max(0, now.value - Date.parse(one.at)))}</span>
            <button type="button" class="plain" disabled={answering.busy.value} onClick={() => void answering.give({ type: "stop_process", process: one.process })}>End it</button>
          </li>
        ))}
      </ul>
      <Trouble problem={answering.problem.value} />
    </section>
  );
}
