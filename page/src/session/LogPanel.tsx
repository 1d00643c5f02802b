/** The truth itself: every event, with a filter. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { Fork } from "./Fork";
import { JsonTree } from "./JsonTree";

const MOST = 300;

export function LogPanel({ open, at }: { open: OpenSession; at: number }) {
  open.shown.value;
  const words = useSignal("");
  const here = useRef<HTMLLIElement>(null);
  const wanted = words.value.trim().toLowerCase();
  const begins = open.begins.value;
  useEffect(() => {
    if (wanted && begins) void open.whole(); // what is looked for may be older than what is here
  }, [wanted !== "", begins]);
  const found = open.fold.log.filter((one) => !wanted || one.event.type.includes(wanted) || JSON.stringify(one.event).toLowerCase().includes(wanted));
  const middle = at ? found.findIndex((one) => one.seq >= at) : -1;
  const from = middle >= 0 ? Math.max(0, middle - MOST / 2) : Math.max(0, found.length - MOST);
  useEffect(() => here.current?.scrollIntoView({ block: "start" }), [at, open.caughtUp.value]);
  return (
    <div class="log">
      <h2>Log</h2>
      <p class="soft">{open.fold.seq.toLocaleString("en")} events: everything this page shows comes from here.</p>
      <input type="search" placeholder="Filter: gate, step_failed, a word…" aria-label="Filter" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />
      {(from > 0 || begins > 0) && (
        <p class="soft small">
          {begins ? "Older ones are not here yet. " : `the last ${MOST} of ${found.length.toLocaleString("en")}`}
          {begins > 0 && <button type="button" class="plain" onClick={() => void open.whole()}>Fetch them</button>}
        </p>
      )}
      <ol>
        {found.slice(from, from + MOST).map((one) => (
          <li key={one.seq} ref={one.seq === at ? here : null} class={one.seq === at ? "here" : ""}>
            <a href={to("s", open.id, "event", String(one.seq))} aria-label={`Event ${one.seq}`}>{one.seq}</a>
            <details open={one.seq === at}>
              <summary>
                <span class="type">{one.event.type}</span>
                <span class="soft">{about(one.event)}</span>
                <time dateTime={one.at}>{one.at.slice(11, 19)}</time>
              </summary>
              <p class="small"><Fork open={open} after={() => one.seq} /></p>
              <JsonTree value={one.event} />
            </details>
          </li>
        ))}
      </ol>
    </div>
  );
}

function about(event: object): string {
  const told = ["step", "artifact", "tool", "gate", "setting", "outcome"].flatMap((name) =>
    name in event && typeof (event as Record<string, unknown>)[name] === "string" ? [(event as Record<string, string>)[name]] : []);
  return told.slice(0, 2).join(" ");
}
