/** Which models there are, whether they answer, and what was spent on them. */
import { useSignal } from "@preact/signals";
import { post, put } from "../api/client";
import type { CostLine, CostTable, ModelRow, ModelTested } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked, useList } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { money, tokens } from "../parts/words";
import { go, query, to } from "../shell/address";
import { Budgets } from "./Budgets";
import { Roles } from "./Roles";
import { base, mayChange } from "../store/desk";

export function Models() {
  const models = useList<readonly ModelRow[]>(`${base.value}/models`);
  return (
    <div class="page">
      <h1>Models and cost</h1>
      <Trouble problem={models.problem.value} />
      {!models.found.value && !models.problem.value && <p class="soft loading" role="status">looking…</p>}
      <ul class="rows">{models.found.value?.map((one) => <One key={one.model} model={one} again={models.again} />)}</ul>
      <p class="soft small">“embedded” is always there: it needs no key and nothing leaves this machine. <code>weft models add</code> connects another.</p>
      <Roles models={models.found.value ?? []} />
      <Costs />
      <Budgets />
    </div>
  );
}

function One({ model, again }: { model: ModelRow; again: () => void }) {
  const tested = useSignal<ModelTested | null>(null);
  const { busy, problem, act } = useDoing();
  const found = tested.value;
  return (
    <li>
      <div class="thing">
        <span><span class="title">{model.model}</span>{model.default && <> <span class="tag">the default</span></>} <span class="described">{[model.kind, model.where].filter(Boolean).join(" · ")}</span></span>
        <span class="choices">
          <button type="button" disabled={busy.value} onClick={() => void act(async () => (tested.value = await post<ModelTested>(`${base.value}/models/test`, { model: model.model })))}>{busy.value ? "Testing…" : "Test"}</button>
          {!model.default && mayChange.value && (
            <button type="button" class="plain" disabled={busy.value} onClick={() => void act(() => put(`${base.value}/models/default`, { model: model.model }).then(again))}>Make it the default</button>
          )}
        </span>
      </div>
      {found && (
        <p class="tested" role="status">
          <Can name="answers" it={found.answers} /> <Can name="streams" it={found.streaming} /> <Can name="uses tools" it={found.tools} /> <Can name="keeps to a schema" it={found.schema} />
          {found.first_part != null && <span class="soft"> first words after {found.first_part.toFixed(1)} s</span>}
        </p>
      )}
      <Trouble problem={problem.value} />
    </li>
  );
}

function Can({ name, it }: { name: string; it: ModelTested["answers"] }) {
  return <span class={it.works ? "good" : it.works === false ? "bad" : "soft"} title={it.note}><span aria-hidden="true">{it.works ? "✓" : it.works === false ? "✗" : "○"} </span>{name}{it.works === false && it.note ? `: ${it.note}` : ""}</span>;
}

const BY = ["day", "pipeline", "step", "model", "session"] as const;
const DAYS = 30;

function Costs() {
  const by = query.value.get("by") ?? "day";
  const found = useAsked<CostTable>(`${base.value}/costs?${new URLSearchParams({ by, days: String(DAYS) })}`);
  const table = found.found.value;
  const most = Math.max(0.000001, ...(table?.rows.map((row) => row.usd ?? 0) ?? []));
  const mostTokens = Math.max(1, ...(table?.rows.map((row) => row.input + row.output) ?? []));
  const priced = most > 0.000001;
  return (
    <section aria-label="Cost" class="library">
      <h2 class="label">Spent in the last 30 days</h2>
      <div class="filters" role="group" aria-label="By">
        {BY.map((one) => <button key={one} type="button" aria-pressed={by === one} onClick={() => go(`/models${one === "day" ? "" : `?by=${one}`}`, true)}>by {one}</button>)}
      </div>
      <Trouble problem={found.problem.value} />
      {!table && !found.problem.value && <p class="soft loading" role="status">adding up…</p>}
      {table && table.rows.length > 0 && by === "day" && <Days rows={table.rows} priced={priced} />}
      {table && !table.rows.length && <p class="soft">Nothing was spent.</p>}
      {table && table.rows.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Spending">
          <table class="costs">
            <thead><tr><th scope="col">{by}</th><th scope="col">cost</th><th scope="col"><span class="unseen">as a bar</span></th><th scope="col" class="number">tokens</th><th scope="col" class="number">calls</th></tr></thead>
            <tbody>
              {table.rows.map((row) => (
                <tr key={row.name}>
                  <th scope="row">{by === "session" ? <a href={to("s", row.name)}>{row.name}</a> : row.name}</th>
                  <td>{money(row.usd)}{row.unpriced > 0 && row.usd != null && <span class="soft"> and more of unknown price</span>}</td>
                  <td class="bars"><span class="bar" aria-hidden="true"><i style={{ width: `${(priced ? (row.usd ?? 0) / most : (row.input + row.output) / mostTokens) * 100}%` }} /></span></td>
                  <td class="number">{(row.input + row.output).toLocaleString("en")}</td>
                  <td class="number">{row.calls.toLocaleString("en")}</td>
                </tr>
              ))}
            </tbody>
            <tfoot><tr><th scope="row">all</th><td>{money(table.total.usd)}</td><td /><td class="number">{(table.total.input + table.total.output).toLocaleString("en")}</td><td class="number">{table.total.calls.toLocaleString("en")}</td></tr></tfoot>
          </table>
        </div>
      )}
      {table?.troubles.map((text) => <p key={text} class="warning">{text}</p>)}
    </section>
  );
}

const [WIDE, HIGH, GAP] = [18, 120, 4];

/** The last days as columns: of money, or of tokens where nothing has a price. The table below says the same in figures. */
function Days({ rows, priced }: { rows: readonly CostLine[]; priced: boolean }) {
  const of = new Map(rows.map((row) => [row.name, priced ? (row.usd ?? 0) : row.input + row.output]));
  const days = Array.from({ length: DAYS }, (_, back) => isoDay(new Date(Date.now() - (DAYS - 1 - back) * 86_400_000)));
  const most = Math.max(...days.map((day) => of.get(day) ?? 0), 1e-9);
  const told = (day: string): string => `${day}: ${priced ? money(of.get(day) ?? 0) : tokens(of.get(day) ?? 0)}`;
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${DAYS * (WIDE + GAP)} ${HIGH + 2}`} role="img" aria-label={`Spent on each of the last ${DAYS} days; the most was ${priced ? money(most) : tokens(most)}`}>
        <line x1="0" x2={DAYS * (WIDE + GAP)} y1={HIGH + 0.5} y2={HIGH + 0.5} />
        {days.map((day, index) => {
          const high = ((of.get(day) ?? 0) / most) * HIGH;
          return <rect key={day} x={index * (WIDE + GAP)} y={HIGH - high} width={WIDE} height={high} rx="2"><title>{told(day)}</title></rect>;
        })}
      </svg>
      <figcaption class="soft small"><span>{days[0]?.slice(5)}</span><span>the most on a day: {priced ? money(most) : tokens(most)}</span><span>today</span></figcaption>
    </figure>
  );
}

/** Of the person's own clock. */
function isoDay(day: Date): string {
  return `${day.getFullYear()}-${String(day.getMonth() + 1).padStart(2, "0")}-${String(day.getDate()).padStart(2, "0")}`;
}
