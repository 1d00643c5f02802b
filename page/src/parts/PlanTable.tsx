/** What a run would do, each step with its reason. */
import type { PlanLine } from "../api/made";

const SIGNS: Readonly<Record<string, [string, string]>> = { run: ["▸", "runs"], skip: ["•", "is kept"], leave: ["○", "is left"] };

export function PlanTable({ lines, notes }: { lines: readonly PlanLine[]; notes: readonly string[] }) {
  return (
    <div class="plan">
      <table>
        <tbody>
          {lines.map((line) => (
            <tr key={line.step} class={`does-${line.action}`}>
              <th scope="row"><span class="sign" aria-hidden="true">{SIGNS[line.action]?.[0]}</span>{line.step}</th>
              <td>{SIGNS[line.action]?.[1] ?? line.action}{line.conditional && ", if what comes before changes it"}</td>
              <td class="soft">{line.reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {notes.map((note) => <p key={note} class="soft small">{note}</p>)}
    </div>
  );
}
