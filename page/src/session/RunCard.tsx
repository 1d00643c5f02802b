/** A run in the line of the conversation: the graph, the step that matters now, what was made, how it ended. */
import { useSignal } from "@preact/signals";
import { Trouble } from "../parts/Trouble";
import { useAnswering } from "../asks/answering";
import { count, humanMs, now, stateOf } from "../parts/words";
import { go, place, to } from "../shell/address";
import type { OpenSession } from "../store/open";
import type { Run, Step } from "../store/run";
import { MoreBudget } from "./MoreBudget";
import { RunAgain } from "./RunAgain";
import { RunGraph } from "./RunGraph";
import { RunResult } from "./RunResult";
import { StepDetail } from "./StepDetail";

export function RunCard({ run, rev, open, isLast }: { run: Run; rev: number; open: OpenSession; isLast: boolean }) {
  const closed = useSignal("");
  const inside = place.value.inside;
  const wanted = isLast && inside[0] === "step" ? (inside[1] ?? "") : "";
  const due = isLast ? dueStep(run) : "";
  const chosen = wanted || (closed.value === due ? "" : due);
  const step = run.steps.get(chosen);
  const choose = (name: string): void => {
    if (name === chosen) {
      closed.value = name;
      go(to("s", open.id), true);
    } else go(to("s", open.id, "step", name), wanted !== "");
  };
  const outcome = run.outcome ?? (isLast && open.left.value ? "interrupted" : null);
  const isDone = outcome === "done";
  const wantedFiles = (run.steps.get(run.desired)?.artifacts ?? []).toSorted(byReading);
  const onTheWay = [...run.steps.values()].flatMap((one) => one.artifacts).filter((name) => !wantedFiles.includes(name));
  const files = [...wantedFiles, ...onTheWay];
  const asksElsewhere = outcome === "waiting";
  return (
    <article class="run" id={`e${run.seq}`} aria-label={`Run of ${run.pipeline}`}>
      <header>
        <h2>{run.pipeline}</h2>
        <Standing run={run} rev={rev} outcome={outcome} />
      </header>
      <RunGraph run={run} rev={rev} chosen={chosen} choose={choose} />
      {step && <StepDetail key={step.name} rev={rev} step={step} run={run} open={open} first={isLast && asksElsewhere} />}
      {run.notes.filter((note) => !run.message || !note.text.endsWith(run.message)).map((note) => <p key={note.seq} class={note.look === "warning" ? "warning" : "soft small"}>{note.text}</p>)}
      {outcome && outcome !== "waiting" && outcome !== "done" && <AtRest run={run} rev={rev} outcome={outcome} open={open} isLast={isLast} />}
      {isLast && isDone && wantedFiles.length > 0 && <RunResult open={open} files={wantedFiles} />}
      {files.length > 0 && (
        <div class="made">
          <span class="label">{isDone ? "Made" : "So far"}</span>
          {(isDone ? wantedFiles : files).map((name, index) => <FileLink key={name} open={open} name={name} chief={index === 0 && isDone} />)}
          {isDone && onTheWay.length > 0 && (
            <details class="others" open={onTheWay.includes(inside[1] ?? "")}>
              <summary>and {count(onTheWay.length, "file")} on the way</summary>
              {onTheWay.map((name) => <FileLink key={name} open={open} name={name} />)}
            </details>
          )}
        </div>
      )}
      {isLast && outcome && outcome !== "waiting" && outcome !== "cancelled" && <RunAgain run={run} open={open} />}
    </article>
  );
}

function FileLink({ open, name, chief = false }: { open: OpenSession; name: string; chief?: boolean }) {
  const [kind, shown] = place.value.inside;
  return <a class={`file ${chief ? "chief" : ""}`} href={to("s", open.id, "artifact", name)} aria-current={kind === "artifact" && shown === name ? "true" : undefined}>{name}</a>;
}

/** What is made to be read comes before what is made to be computed with. */
function byReading(one: string, other: string): number {
  const rank = (name: string): number => (name.endsWith(".html") ? 0 : name.endsWith(".md") ? 1 : 2);
  return rank(one) - rank(other);
}

function Standing({ run, outcome }: { run: Run; rev: number; outcome: Run["outcome"] }) {
  const state = outcome === null ? stateOf("running", "step") : stateOf(outcome, "session");
  const ms = outcome && !run.outcome ? 0 : (run.endedAt && outcome ? Date.parse(run.endedAt) : now.value) - Date.parse(run.at);
  const made = [...run.steps.values()].filter((step) => ["done", "skipped", "passed"].includes(step.state)).length;
  return (
    <span class={`state ${state.look}`}>
      <span class="sign" aria-hidden="true">{state.sign}</span><span>{state.word}</span>
      <span class="soft"> · {made} of {count(run.steps.size, "step")}{outcome !== "waiting" && ms > 0 ? ` · ${humanMs(ms)}` : ""}</span>
    </span>
  );
}

/** The step a person would look at: one that asks, works or went wrong. */
export function dueStep(run: Run): string {
  const steps = [...run.steps.values()];
  const is = (state: Step["state"]) => (step: Step) => step.state === state;
  const found = steps.find((step) => step.gates.some((gate) => !gate.resolved)) ?? steps.find(is("running")) ??
    steps.find(is("failed")) ?? (run.outcome === "done" ? undefined : steps.find(is("interrupted")));
  return found?.name ?? "";
}

const REST: Readonly<Record<string, string>> = {
  failed: "It failed. What was made is kept: it goes on from there.",
  interrupted: "It was interrupted. What was made is kept: it goes on from there.",
  over_budget: "The budget is reached.",
  asleep: "It waits for its time, and goes on by itself.",
  left: "You left it for something else. It waits where it was.",
  cancelled: "It was ended for good. What it made stays.",
};

function AtRest({ run, outcome, open, isLast }: { run: Run; rev: number; outcome: string; open: OpenSession; isLast: boolean }) {
  const answering = useAnswering(open.base, open.id);
  const known = /^failed: /.test(run.message) || [...run.steps.values()].some((step) => step.message === run.message); // the step says it, with why
  const told = known ? "" : run.message;
  const ofStep = outcome === "over_budget" && run.message.startsWith("the step ");
  return (
    <div class="rest">
      <p>{REST[outcome] ?? ""} {told && <span class="soft">{told.charAt(0).toUpperCase() + told.slice(1)}.</span>}</p>
      {ofStep && <p class="soft">Allow more under its <code>budget</code> in the <a href={to("pipelines", run.pipeline)}>pipeline’s text</a>, then go on.</p>}
      {isLast && outcome !== "cancelled" && (
        <div class="choices">
          {outcome === "over_budget" && !ofStep ? <MoreBudget answering={answering} told={run.message} /> : <button type="button" class="primary" disabled={answering.busy.value} onClick={() => void answering.give({ type: "start_run" })}>{outcome === "left" ? "Take it up again" : outcome === "failed" ? "Try again" : "Go on"}</button>}
          <button type="button" disabled={answering.busy.value} onClick={() => void answering.give({ type: "cancel_run" })}>End it for good</button>
        </div>
      )}
      <Trouble problem={answering.problem.value} />
    </div>
  );
}
