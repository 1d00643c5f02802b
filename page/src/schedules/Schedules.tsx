/** What begins by itself: when it comes next, what became of it, begun now, paused. */
import { useSignal } from "@preact/signals";
import { newKey, post } from "../api/client";
import type { ScheduleEntryShown, ScheduleShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { now, since } from "../parts/words";
import { place, to } from "../shell/address";
import { base, mayRun } from "../store/desk";

export function Schedules() {
  const found = useAsked<readonly ScheduleShown[]>(`${base.value}/schedules`);
  const wanted = place.value.of;
  const shown = found.found.value?.filter((one) => !wanted || one.name === wanted);
  return (
    <div class={wanted ? "page wide-page" : "page"}>
      {wanted && <p class="crumb"><a href="/schedules">Schedules</a></p>}
      <h1 dir="auto">{wanted || "Schedules"}</h1>
      {!wanted && <p class="standfirst">Runs and messages that begin by themselves while this server runs.</p>}
      <Trouble problem={found.problem.value} />
      {!shown && !found.problem.value && <p class="soft loading" role="status">reading…</p>}
      <ul class="rows schedules">{shown?.map((one) => <One key={one.name} one={one} again={found.again} isAlone={wanted !== ""} />)}</ul>
      {!wanted && found.found.value?.length === 0 && <p class="soft empty">None yet. A file in <code>schedules/</code> of the workspace says what begins when: <a href="/docs/schedules.html" target="_blank">how</a>.</p>}
      {wanted && shown?.length === 0 && <p class="soft empty">There is no schedule of this name.</p>}
    </div>
  );
}

function One({ one, again, isAlone }: { one: ScheduleShown; again: () => void; isAlone: boolean }) {
  const { problem, act } = useDoing();
  const told = useSignal("");
  const say = (what: "run" | "pause" | "resume") => () => void act(async () => {
    await post(`${base.value}/schedules/${encodeURIComponent(one.name)}/${what}`, what === "run" ? { key: newKey() } : {});
    told.value = what === "run" ? "begun" : "";
    again();
  });
  return (
    <li>
      <div class="thing">
        <span>
          {!isAlone && <a class="title" href={to("schedules", one.name)}>{one.name}</a>} <span class="soft">{one.when}</span>
          {one.description && <span class="described" dir="auto">{one.description}</span>}
        </span>
        {mayRun.value && !one.problem && (
          <span class="choices">
            <button type="button" onClick={say("run")}>Run it now</button>
            <button type="button" class="plain" onClick={say(one.paused ? "resume" : "pause")}>{one.paused ? "Let it go on" : "Pause"}</button>
          </span>
        )}
      </div>
      <p class="facts">
        {one.paused ? <span class="warn">paused</span> : one.next && <span>next <time dateTime={one.next}>{moment(one.next)}</time></span>}
        {one.last && <span>last <Outcome entry={one.last} /></span>}
        {told.value && <span class="good" role="status">✓ {told.value}</span>}
      </p>
      {one.problem && <p class="warning bad">✗ {one.problem}</p>}
      <Trouble problem={problem.value} />
      {isAlone && !one.problem && <History name={one.name} again={told.value} />}
    </li>
  );
}

function Outcome({ entry }: { entry: ScheduleEntryShown }) {
  const words = <>{entry.kind}{entry.why && `: ${entry.why}`} {since(entry.at, now.value)}</>;
  return entry.session ? <a href={to("s", entry.session)}>{words}</a> : <span>{words}</span>;
}

function History({ name, again }: { name: string; again: string }) {
  const found = useAsked<readonly ScheduleEntryShown[]>(`${base.value}/schedules/${encodeURIComponent(name)}/history`, again);
  const entries = found.found.value?.filter((entry) => entry.kind !== "seen");
  const causes = new Map(entries?.filter((entry) => entry.kind === "decided").map((entry) => [entry.key, entry.cause]));
  return (
    <section aria-label="History" class="library">
      <h2 class="label">History</h2>
      <Trouble problem={found.problem.value} />
      {entries?.length === 0 && <p class="soft">Nothing has begun yet.</p>}
      {entries && entries.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="What was begun, and why">
          <table class="costs entries">
            <thead><tr><th scope="col">at</th><th scope="col">what</th><th scope="col">because of</th><th scope="col">session</th></tr></thead>
            <tbody>
              {[...entries].reverse().map((entry) => (
                <tr key={`${entry.at} ${entry.kind} ${entry.key}`}>
                  <th scope="row"><time dateTime={entry.at}>{moment(entry.at)}</time></th>
                  <td>{entry.kind}{entry.times > 1 && ` (${entry.times} times as one)`}{entry.why && <span class="soft"> {entry.why}</span>}</td>
                  <td>{causes.get(entry.key) ?? entry.cause}</td>
                  <td>{entry.session && <a href={to("s", entry.session)}>{entry.session}</a>}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

/** Of the person's own clock. */
function moment(iso: string): string {
  const at = new Date(iso);
  return Number.isNaN(at.getTime()) ? iso : at.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
