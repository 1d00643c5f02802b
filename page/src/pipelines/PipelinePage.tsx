/** One pipeline: its graph, each step's maker, schema and checks, its last runs, and its text. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { PipelineDrawn, PipelineRun, PipelineShown, PipelineStep } from "../api/made";
import { Graph } from "../parts/Graph";
import { NotHere } from "../parts/NotHere";
import { State } from "../parts/State";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count, humanMs, money, now, since } from "../parts/words";
import { go, to } from "../shell/address";
import { base, mayChange } from "../store/desk";
import { copyPipeline } from "./NewPipeline";
import { StepStats } from "./StepStats";
import { TextEditor } from "./TextEditor";

export function PipelinePage({ name }: { name: string }) {
  const address = `${base.value}/pipelines/${encodeURIComponent(name)}`;
  const asked = useAsked<PipelineShown>(address);
  const drawn = useSignal<PipelineDrawn | null>(null);
  const chosen = useSignal("");
  const found = asked.found.value;
  if (asked.problem.value) return <NotHere title={name} problem={asked.problem.value} href="/pipelines" back="Pipelines" />;
  if (!found) return <div class="page"><p class="soft loading" role="status">reading…</p></div>;
  const shown = drawn.value ?? found;
  const step = shown.graph.find((one) => one.name === chosen.value);
  return (
    <div class="page wide-page">
      <p class="crumb"><a href="/pipelines">Pipelines</a></p>
      <h1>{found.name}</h1>
      <p class="standfirst">{found.description}</p>
      {found.problems.length > 0 && <Broken problems={found.problems} />}
      <p class="choices">{!found.problems.length && <a class="button primary" href={`/new?pipeline=${encodeURIComponent(name)}`}>Begin with it</a>}{mayChange.value && <Copy name={name} />}</p>
      {shown.graph.length > 0 && (
        <section class="run" aria-label="Graph">
          <Graph steps={shown.graph} node={(one) => <Node step={one} chosen={chosen.value === one.name} choose={() => (chosen.value = chosen.value === one.name ? "" : one.name)} />} />
          {step && <About step={step} />}
          {shown.units.map((unit, index) => (
            <p key={index} class="soft small">{unit.kind}: {unit.steps.join(", ")}, at most {unit.most} times{unit.when && `, ${unit.when}`}</p>
          ))}
          {shown.budget && <p class="soft small">budget: {shown.budget}</p>}
        </section>
      )}
      {found.parameters.length > 0 && (
        <section aria-label="Parameters">
          <h2 class="label">Parameters</h2>
          <dl class="fields">
            {found.parameters.map((one) => (
              <div key={one.name} class="short"><dt>{one.name}</dt><dd>{one.description} <span class="soft">{one.good} · {JSON.stringify(one.default)}</span></dd></div>
            ))}
          </dl>
        </section>
      )}
      <Runs runs={found.runs} steps={found.steps} />
      <StepStats name={name} steps={found.steps} />
      <section aria-label="Text">
        <h2 class="label">As it is written</h2>
        <TextEditor
          file={found.file}
          text={found.yaml}
          hash={found.hash}
          address={address}
          problems={[...found.problems, ...found.warnings]}
          check={async (text) => {
            drawn.value = await post<PipelineDrawn>(`${address}/check`, { text });
            return [...drawn.value.problems, ...drawn.value.warnings];
          }}
          saved={asked.again}
        />
      </section>
    </div>
  );
}

/** Why it can't be run, where one looks first; at their lines the problems stand under the text. */
function Broken({ problems }: { problems: PipelineShown["problems"] }) {
  return (
    <div class="trouble">
      <p><span aria-hidden="true">✗ </span>It can’t be run: {count(problems.length, "problem")} in its text</p>
      <ul class="plainlist">{problems.map((one, index) => <li key={index}>line {one.line}: {one.message} <span class="soft">{one.hint}</span></li>)}</ul>
    </div>
  );
}

/** A new one from it: the same text under another name. */
function Copy({ name }: { name: string }) {
  const { problem, act } = useDoing();
  const copy = (): void => {
    const wanted = prompt("What shall the new pipeline be called?", `${name}-2`)?.trim();
    if (wanted) void act(() => copyPipeline(name, wanted).then(() => go(to("pipelines", wanted))));
  };
  return <><button type="button" onClick={copy}>New one from it</button><Trouble problem={problem.value} /></>;
}

function Node({ step, chosen, choose }: { step: PipelineStep; chosen: boolean; choose: () => void }) {
  return (
    <button type="button" class="node" aria-expanded={chosen} onClick={choose}>
      <span class="name">{step.name}</span>
      <span class="told bare">{[step.agent || step.executor, step.gate ? "gate" : ""].filter(Boolean).join(" · ")}</span>
    </button>
  );
}

function About({ step }: { step: PipelineStep }) {
  const facts: [string, string][] = [
    ["Made by", step.agent ? `the agent ${step.agent}` : step.code ? `code, ${step.code}` : step.tool ? `the tool ${step.tool}` : step.executor],
    ["Artifacts", step.artifacts.join(", ")],
    ["Made from", step.requires.join(", ")],
    ["Schema", Object.values(step.schemas).join(", ")],
    ["Only when", step.when],
    ["Tools", step.tools.join(", ")],
    ["Skills", step.skills.join(", ")],
    ["Model", step.model],
  ];
  return (
    <section class="step" aria-label={step.name}>
      <header><h3>{step.name}</h3></header>
      <dl class="fields">
        {facts.filter(([, value]) => value).map(([label, value]) => <div key={label} class="short"><dt>{label}</dt><dd>{label === "Made by" && step.agent ? <a href={to("pipelines", "agent", step.agent)}>{value}</a> : value}</dd></div>)}
        {step.checks.length > 0 && <div><dt>Checks</dt><dd><ul class="points">{step.checks.map((one) => <li key={one}>{one}</li>)}</ul></dd></div>}
        {step.gate && <div><dt>Gate</dt><dd>{step.gate.message || "waits for a person"}{step.gate.auto && <span class="soft"> shows, and goes on</span>}</dd></div>}
      </dl>
    </section>
  );
}

/** Each run as one bar, long as it took, parted by its steps. */
function Runs({ runs, steps }: { runs: readonly PipelineRun[]; steps: readonly string[] }) {
  if (!runs.length) return null;
  const longest = Math.max(1, ...runs.map((run) => steps.reduce((sum, step) => sum + (run.steps[step]?.ms ?? 0), 0)));
  return (
    <section aria-label="Last runs">
      <h2 class="label">Last runs</h2>
      <ul class="rows">
        {runs.map((run) => (
          <li key={`${run.session} ${run.at}`}>
            <a class="row" href={to("s", run.session)}>
              <State state={run.outcome} of="session" bare />
              <span class="title" dir="auto">{run.title}
                <span class="bar" role="img" aria-label={steps.map((step) => `${step} ${humanMs(run.steps[step]?.ms ?? 0)}`).join(", ")}>
                  {steps.map((step, index) => <i key={step} class={index % 2 ? "odd" : ""} title={`${step} ${humanMs(run.steps[step]?.ms ?? 0)}`} style={{ width: `${((run.steps[step]?.ms ?? 0) / longest) * 100}%` }} />)}
                </span>
              </span>
              <span class="facts"><span>{humanMs(run.ms)}</span><span>{money(run.usd)}</span><time dateTime={run.at}>{since(run.at, now.value)}</time></span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
