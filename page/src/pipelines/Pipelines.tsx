/** Pipelines, agents and skills: what there is, what is wrong with it, and one of them opened. */
import type { LibraryFile, PipelineShort } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useList } from "../parts/useAsked";
import { count } from "../parts/words";
import { place, to } from "../shell/address";
import { base, mayChange } from "../store/desk";
import { LibraryPage } from "./LibraryPage";
import { NewPipeline } from "./NewPipeline";
import { Packs } from "./Packs";
import { PipelinePage } from "./PipelinePage";

export function Pipelines() {
  const { of, inside } = place.value;
  if ((of === "agent" || of === "skill") && inside[0]) return <LibraryPage key={`${of} ${inside[0]}`} kind={of} name={inside[0]} />;
  return of ? <PipelinePage key={of} name={of} /> : <All />;
}

function All() {
  const pipelines = useList<readonly PipelineShort[]>(`${base.value}/pipelines`);
  const agents = useList<readonly LibraryFile[]>(`${base.value}/agents`);
  const skills = useList<readonly LibraryFile[]>(`${base.value}/skills`);
  return (
    <div class="page">
      <div class="title-line">
        <h1>Pipelines</h1>
        {mayChange.value && <NewPipeline names={pipelines.found.value?.map((one) => one.name) ?? []} />}
      </div>
      <Trouble problem={pipelines.problem.value} />
      {!pipelines.found.value && !pipelines.problem.value && <p class="soft loading" role="status">reading…</p>}
      <ul class="rows">
        {pipelines.found.value?.map((one) => (
          <li key={one.name}>
            <a class="row" href={to("pipelines", one.name)}>
              <span class="title">{one.name}<span class="described">{one.description}</span></span>
              <span class="facts">{one.problems.length > 0 ? <span class="bad">✗ {count(one.problems.length, "problem")}</span> : <span>{count(one.steps.length, "step")}</span>}</span>
            </a>
          </li>
        ))}
      </ul>
      {pipelines.found.value?.length === 0 && <p class="soft empty">None yet. Add a pack, or make one from the template.</p>}
      <Library title="Agents" kind="agent" entries={agents.found.value ?? []} />
      <Library title="Skills" kind="skill" entries={skills.found.value ?? []} />
      <Packs laid={pipelines.again} />
    </div>
  );
}

function Library({ title, kind, entries }: { title: string; kind: string; entries: readonly LibraryFile[] }) {
  if (!entries.length) return null;
  return (
    <section class="library" aria-label={title}>
      <h2 class="label">{title}</h2>
      <ul class="rows">
        {entries.map((one) => (
          <li key={one.file}>
            <a class="row" href={to("pipelines", kind, one.name)}>
              <span class="title">{one.name}<span class="described">{one.description}</span></span>
              <span class="facts">
                {one.problems.length > 0 ? <span class="bad">✗ {count(one.problems.length, "problem")}</span> : <span>{one.used_by.length ? `used by ${one.used_by.join(", ")}` : "not used"}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
