/** A step, opened under the graph: why it runs, what it does, what was wrong, what it made, what it asks. */
import type { StepShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { at } from "./addresses";
import { GateAsk, choicesOf } from "../asks/GateAsk";
import { ApprovalAsk } from "../asks/ApprovalAsk";
import { State } from "../parts/State";
import { replied } from "../parts/told";
import { count, humanMs, tokens } from "../parts/words";
import { to } from "../shell/address";
import type { OpenSession } from "../store/open";
import type { Attempt, Gate, Run, Step, StepItem } from "../store/run";
import { Opens } from "../parts/Opens";
import { SortTable } from "../parts/SortTable";
import { Activities } from "./TurnCard";
import { Formatted } from "../parts/Formatted";

export function StepDetail({ step, rev, run, open, first }: { step: Step; rev: number; run: Run; open: OpenSession; first: boolean }) {
  const last = step.attempts.at(-1);
  const talk = last ? open.fold.talk.conversations.get(`run-${run.number}/${step.name}#${last.attempt}`) : undefined;
  const asked = [...(talk?.calls.values() ?? [])].filter((call) => call.phase === "asked");
  return (
    <section class="step" aria-label={step.name}>
      <header>
        <h3>{step.name}</h3>
        <State state={step.state} of="step" />
        <span class="soft">{[step.executor && `made by ${step.executor}`, last?.model ?? "", last?.tokens ? tokens(last.tokens) : ""].filter(Boolean).join(" · ")}</span>
      </header>
      {step.reason && <p class="why"><span class="label">{because(step.state)}</span> {step.reason}</p>}
      {step.round && <p class="why"><span class="label">Round</span> {step.round.kind} {step.round.round} of {step.round.most}, asked for by {step.round.unit}</p>}
      {step.verdict && <p class="why"><span class="label">Verdict</span> {step.verdict}</p>}
      {step.state === "waiting" && step.until && <p class="why"><span class="label">Waits</span> for its time: {new Date(step.until).toLocaleString()}</p>}
      {step.state === "running" && (step.calling || step.progress || step.items.size > 0) && (
        <p class="working" role="status">{step.calling || step.progress || count(step.items.size, "item") + " done"}</p>
      )}
      {step.items.size > 0 && <Items items={[...step.items.values()]} open={open} />}
      {step.live && <pre class="live" tabIndex={0} aria-label="being written" dir="auto">{step.live.slice(-4000)}</pre>}
      {talk?.cards.map((card) => (
        <div key={card.key}>
          <Activities card={card} rev={rev + card.rev} open={open} />
          {card.live?.text && <Formatted text={card.live.text} live />}
        </div>
      ))}
      {asked.map((call) => <ApprovalAsk key={`${call.turn}/${call.call}`} base={open.base} session={open.id} call={call} first={first} />)}
      {(step.state === "failed" || step.state === "interrupted") && step.message && (
        <p class={step.state === "failed" ? "warning bad" : "warning"}><span aria-hidden="true">{step.state === "failed" ? "✗ " : "! "}</span>{step.message}</p>
      )}
      {step.attempts.some((one) => one.findings.length) && <Findings attempts={step.attempts} rev={rev} />}
      {step.artifacts.length > 0 && (
        <p class="made">
          <span class="label">Made</span>
          {step.artifacts.map((name) => <a key={name} class="file" href={to("s", open.id, "artifact", name)}>{name}</a>)}
        </p>
      )}
      {step.gates.filter((gate) => gate.resolved).map((gate) => <Answered key={gate.opened.gate} gate={gate} />)}
      {step.gates.filter((gate) => !gate.resolved).map((gate) => (
        <GateAsk key={gate.opened.gate} base={open.base} session={open.id} gate={gate} first={first} />
      ))}
      {step.attempts.length > 0 && <Attempts attempts={step.attempts} rev={rev} />}
      {step.attempts.some((one) => one.calls.length > 0 || one.model) && <Opens title="The prompt as it was sent"><Prompts open={open} step={step.name} attempts={step.attempts.length} /></Opens>}
    </section>
  );
}

/** Its reason was true when it was decided: behind that, it is told as past. */
function because(state: Step["state"]): string {
  return state === "skipped" ? "Kept because" : state === "waiting" || state === "passed" ? "Why" : "Run because";
}

/** What it was made for one by one: what went wrong first. */
function Items({ items, open }: { items: readonly StepItem[]; open: OpenSession }) {
  const wrong = items.filter((one) => !one.ok);
  return (
    <details class="attempts" open={wrong.length > 0}>
      <summary>{count(items.length, "item")}{wrong.length > 0 && <>, {wrong.length} not made</>}</summary>
      <SortTable
        names={["item", "state", "took", "what is wrong"]}
        rows={[...wrong, ...items.filter((one) => one.ok)]}
        value={(one, column) => [one.item, stateOfItem(one), one.ms, one.message][column]}
        cell={(one, column) => [one.item, stateOfItem(one), humanMs(one.ms), one.message][column]}
      />
      {items.some((one) => one.artifact) && <p class="made">{items.filter((one) => one.artifact).slice(0, 50).map((one) => <a key={one.item} class="file" href={to("s", open.id, "artifact", one.artifact)}>{one.artifact}</a>)}</p>}
    </details>
  );
}

function stateOfItem(one: StepItem): string {
  return one.ok ? "✓ done" : one.retrying ? "▸ tried again" : "✗ failed";
}

/** What a model was told, as it was sent. */
function Prompts({ open, step, attempts }: { open: OpenSession; step: string; attempts: number }) {
  const told = useAsked<StepShown>(at(open, "steps", step), attempts);
  return (
    <>
      <Trouble problem={told.problem.value} />
      {told.found.value && !told.found.value.prompts.length && <p class="soft">None is kept: no model was asked.</p>}
      {told.found.value?.prompts.map((one) => (
        <div key={`${one.attempt} ${one.call}`}>
          <p>Attempt {one.attempt}, call {one.call} <span class="soft">{one.name}</span></p>
          {one.dropped.length > 0 && <p class="warning">did not fit: {one.dropped.join("; ")}</p>}
          <pre class="result" tabIndex={0}>{one.text ?? "its text is not there any more"}</pre>
        </div>
      ))}
    </>
  );
}

function Findings({ attempts }: { attempts: readonly Attempt[]; rev: number }) {
  return (
    <div class="findings">
      {alike(attempts.filter((one) => one.findings.length)).map(({ one, many }) => (
        <div key={one.attempt}>
          <p class="label">{many > 1 ? `Wrong with attempts ${one.attempt} to ${one.attempt + many - 1}` : `Wrong with attempt ${one.attempt}`}</p>
          <ul>
            {one.findings.map((finding, index) => (
              <li key={index}>
                {finding.at && <code>{finding.at}</code>} {finding.message}
                {finding.hint && <span class="soft"> {finding.hint}</span>}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}

/** Attempts one after the other with which the same was wrong are told once. */
function alike(attempts: readonly Attempt[]): { one: Attempt; many: number }[] {
  const found: { one: Attempt; many: number }[] = [];
  for (const one of attempts) {
    const last = found.at(-1);
    if (last && last.one.attempt + last.many === one.attempt && JSON.stringify(last.one.findings) === JSON.stringify(one.findings)) last.many += 1;
    else found.push({ one, many: 1 });
  }
  return found;
}

function Answered({ gate }: { gate: Gate }) {
  const { resolved } = gate;
  if (!resolved) return null;
  if (resolved.does === "withdrawn") return <p class="why"><span class="label">Gate</span> withdrawn: there is nothing to ask any more</p>;
  const label = choicesOf(gate).find((one) => one.id === resolved.choice)?.label ?? resolved.choice;
  return (
    <p class="why">
      <span class="label">Gate</span> {gate.opened.message} <strong>{label}</strong>
      {resolved.text && <> “{resolved.text}”</>}, by {replied[resolved.by] ?? resolved.by}
    </p>
  );
}

const CAUSES: Readonly<Record<string, string>> = {
  first: "first", retry: "tried again", amend: "made again with your words", repair: "repaired", rerun: "made again", resume: "went on",
};

function Attempts({ attempts }: { attempts: readonly Attempt[]; rev: number }) {
  return (
    <details class="attempts">
      <summary>{attempts.length > 1 ? `${count(attempts.length, "attempt")} and what each was made from` : "What it was made from"}</summary>
      {attempts.map((one, index) => {
        const before = attempts[index - 1];
        const changed = before ? Object.keys({ ...before.inputs, ...one.inputs }).filter((name) => before.inputs[name] !== one.inputs[name]) : [];
        return (
          <div key={`${one.attempt} ${one.seq}`}>
            <p>
              <strong>{one.attempt}</strong> {CAUSES[one.cause] ?? one.cause} · <State state={one.outcome} of="step" />
              {one.ms !== null && <> · {humanMs(one.ms)}</>}{one.tokens > 0 && <> · {tokens(one.tokens)}</>}
              {one.message && <span class="soft"> {one.message}</span>}
            </p>
            {one.trace && <pre class="result" tabIndex={0} aria-label="where it failed">{one.trace}</pre>}
            {one.calls.length > 0 && (
              <ul class="plainlist">
                {one.calls.map((call) => (
                  <li key={call.call}><span class="sign" aria-hidden="true">{call.ok ? "✓" : "✗"}</span> {call.name} <span class="soft">{call.title} {humanMs(call.ms)} {call.message}</span></li>
                ))}
              </ul>
            )}
            <table class="inputs">
              <tbody>
                {Object.entries(one.inputs).map(([name, hash]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td><code>{hash.slice(0, 12)}</code></td>
                    <td>{before ? (changed.includes(name) ? "changed" : "as before") : ""}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        );
      })}
    </details>
  );
}
