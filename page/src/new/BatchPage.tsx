/** Many files, one table that fills. */
import { useEffect } from "preact/hooks";
import type { JobItem, BatchShown } from "../api/made";
import { Dots } from "../inbox/Inbox";
import { State } from "../parts/State";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { count, humanMs, money, stateOf } from "../parts/words";
import { to } from "../shell/address";
import { base, sessions } from "../store/desk";

const AGAIN_MS = 2000;

export function BatchPage({ id }: { id: string }) {
  const asked = useAsked<BatchShown>(`${base.value}/batches/${encodeURIComponent(id)}`);
  const batch = asked.found.value;
  useEffect(() => {
    if (batch?.state !== "working") return;
    const timer = setTimeout(asked.again, AGAIN_MS); // what a session does comes by itself; what could not be begun does not
    return () => clearTimeout(timer);
  }, [batch]);
  if (asked.problem.value) return <div class="page"><h1>Batch</h1><Trouble problem={asked.problem.value} /><p><a href="/sessions">All sessions</a></p></div>;
  if (!batch) return <div class="page"><p class="soft loading" role="status">reading…</p></div>;
  const entries = batch.items.map((item) => sessions.value.get(item.session));
  const done = entries.filter((one) => one?.state === "done").length;
  const usd = entries.reduce((sum, one) => sum + (one?.usd ?? 0), 0);
  return (
    <div class="page wide-page">
      <p class="crumb"><a href="/new">New</a></p>
      <h1>{done === batch.items.length ? `All ${count(done, "document")} are done` : `${done} of ${count(batch.items.length, "document")} done`}</h1>
      <p class="standfirst">{[batch.pipeline, usd ? money(usd) : ""].filter(Boolean).join(" · ")}</p>
      <progress class="whole" aria-label="done" max={batch.items.length} value={done} />
      <div class="wide" tabIndex={0} role="region" aria-label="Documents">
        <table class="batch">
          <thead><tr><th scope="col">Document</th><th scope="col">State</th><th scope="col">Steps</th><th scope="col">Time</th><th scope="col">Cost</th></tr></thead>
          <tbody>{batch.items.map((item, index) => <Line key={`${index} ${item.session}`} item={item} batch={batch} />)}</tbody>
        </table>
      </div>
      {batch.state === "failed" && <p class="warning">The server ended before all were begun: drop the ones that are missing again.</p>}
    </div>
  );
}

function Line({ item, batch }: { item: JobItem; batch: BatchShown }) {
  const entry = sessions.value.get(item.session);
  const title = entry?.title ?? item.name;
  return (
    <tr>
      <th scope="row" dir="auto">{entry ? <a href={to("s", item.session)}>{title}</a> : title}{title !== item.name && <span class="soft small"> {item.name}</span>}</th>
      <td>
        {item.problem ? <span class="bad"><span aria-hidden="true">✗ </span>{item.problem}</span>
          : entry ? <State state={entry.state} of="session" />
          : <span class="state quiet"><span class="sign" aria-hidden="true">○</span>{batch.state === "working" ? "to come" : "not begun"}</span>}
        {entry?.state === "waiting" && entry.waits[0] && <span class="soft small"> {entry.waits[0]}</span>}
        {entry?.problem && <span class="soft small"> {entry.problem}</span>}
      </td>
      <td>{entry && entry.steps > 0 && <Dots done={entry.done} steps={entry.steps} />}</td>
      <td>{entry && stateOf(entry.state, "session").look !== "busy" ? humanMs(Date.parse(entry.updated) - Date.parse(entry.created)) : ""}</td>
      <td>{entry?.tokens ? money(entry.usd) : ""}</td>
    </tr>
  );
}
