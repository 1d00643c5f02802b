/** What came of every step over all runs: how often at the first attempt, how long, for how much. */
import type { StatsTable } from "../api/made";
import { useAsked } from "../parts/useAsked";
import { count, humanMs, money, tokens } from "../parts/words";
import { base } from "../store/desk";

export function StepStats({ name, steps }: { name: string; steps: readonly string[] }) {
  const asked = useAsked<StatsTable>(`${base.value}/stats?${new URLSearchParams({ pipeline: name })}`);
  const rows = asked.found.value?.rows ?? [];
  const whole = rows.find((row) => row.step === "");
  const of = steps.flatMap((step) => rows.find((row) => row.step === step && row.made + row.failed + row.attempts > 0) ?? []);
  if (!whole || !of.length) return null;
  const longest = Math.max(1, ...of.map((row) => row.ms ?? 0));
  return (
    <section aria-label="Steps over all runs">
      <h2 class="label">Steps over {count(whole.runs, "run")}</h2>
      <div class="wide" tabIndex={0} role="region" aria-label="Figures of the steps">
        <table class="costs stats">
          <thead><tr><th scope="col">step</th><th scope="col">at the first attempt</th><th scope="col">usual time</th><th scope="col"><span class="unseen">as a bar</span></th><th scope="col">repairs</th><th scope="col">cost</th><th scope="col">what was found</th></tr></thead>
          <tbody>
            {of.map((row) => (
              <tr key={row.step}>
                <th scope="row">{row.step}</th>
                <td>{row.first_share === null ? "" : `${Math.round(row.first_share * 100)} %`}{row.failed > 0 && <span class="bad"> {row.failed} failed</span>}</td>
                <td>{row.ms === null ? "" : humanMs(row.ms)}</td>
                <td class="bars"><span class="bar" aria-hidden="true"><i style={{ width: `${((row.ms ?? 0) / longest) * 100}%` }} /></span></td>
                <td>{row.repairs || ""}</td>
                <td>{row.tokens ? `${money(row.usd)} · ${tokens(row.tokens)}` : "free"}</td>
                <td class="soft">{Object.entries(row.findings).map(([check, times]) => `${check} ${times}×`).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
