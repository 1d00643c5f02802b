/** What a run of each pipeline may take at most, what its runs took, and which stand still because of it. */
import type { CostTable, PipelineShort, StatsTable } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked, useList } from "../parts/useAsked";
import { money } from "../parts/words";
import { to } from "../shell/address";
import { base, sessions } from "../store/desk";

const DAYS = 30;

export function Budgets() {
  const pipelines = useList<readonly PipelineShort[]>(`${base.value}/pipelines`);
  const spent = useAsked<CostTable>(`${base.value}/costs?${new URLSearchParams({ by: "pipeline", days: String(DAYS) })}`);
  const runs = useAsked<StatsTable>(`${base.value}/stats?${new URLSearchParams({ days: String(DAYS) })}`);
  const still = [...sessions.value.values()].filter((one) => one.state === "over_budget");
  const of = (name: string): { usd: number | null; runs: number } => ({
    usd: spent.found.value?.rows.find((row) => row.name === name)?.usd ?? null,
    runs: runs.found.value?.rows.find((row) => row.pipeline === name && !row.step)?.runs ?? 0,
  });
  const good = pipelines.found.value?.filter((one) => !one.problems.length) ?? [];
  const shown = good.filter((one) => one.budget || of(one.name).runs);
  const free = good.filter((one) => !shown.includes(one));
  return (
    <section aria-label="Budgets" class="library">
      <h2 class="label">Budgets</h2>
      <Trouble problem={pipelines.problem.value} />
      {still.map((one) => <p key={one.id} class="warning"><span aria-hidden="true">! </span><a href={to("s", one.id)}>{one.title}</a> has reached its budget and waits for more.</p>)}
      {shown.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Budgets of pipelines">
          <table class="costs">
            <thead><tr><th scope="col">pipeline</th><th scope="col">a run takes at most</th><th scope="col" class="number">runs</th><th scope="col" class="number">a run took</th></tr></thead>
            <tbody>
              {shown.map((one) => {
                const { usd, runs: many } = of(one.name);
                return (
                  <tr key={one.name}>
                    <th scope="row"><a href={to("pipelines", one.name)}>{one.name}</a></th>
                    <td>{one.budget || <span class="soft">no limit</span>}</td>
                    <td class="number">{many || ""}</td>
                    <td class="number">{many && usd !== null ? money(usd / many) : ""}</td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      {free.length > 0 && <p class="soft small">Without a limit: {free.map((one, index) => <span key={one.name}>{index > 0 && ", "}<a href={to("pipelines", one.name)}>{one.name}</a></span>)}</p>}
      <p class="soft small"><code>budget: {"{usd: 2, minutes: 30}"}</code> in a pipeline's text sets it. A run that reaches it keeps what it made and asks for more.</p>
    </section>
  );
}
