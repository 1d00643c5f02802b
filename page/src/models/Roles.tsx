/** The names by which steps and agents ask for a model, and which one each stands for. */
import { put } from "../api/client";
import type { ModelRow, RoleShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { base, mayChange } from "../store/desk";

const FOR: Readonly<Record<string, string>> = { small: "short and simple work", standard: "most work", strong: "the hardest work" };

export function Roles({ models }: { models: readonly ModelRow[] }) {
  const roles = useAsked<readonly RoleShown[]>(`${base.value}/models/roles`);
  const { problem, act } = useDoing();
  const choose = (role: string, model: string): void =>
    void act(() => put(`${base.value}/models/roles/${encodeURIComponent(role)}`, { model }).then(roles.again));
  if (roles.problem.value) return <Trouble problem={roles.problem.value} />;
  if (!roles.found.value) return null;
  return (
    <section aria-label="Roles" class="library">
      <h2 class="label">Which model for what</h2>
      <ul class="rows">
        {roles.found.value.map((one) => (
          <li key={one.role} class="thing">
            <label for={`role-${one.role}`}><span class="title">{one.role}</span> <span class="described">{FOR[one.role]}</span></label>
            <select id={`role-${one.role}`} disabled={!mayChange.value} value={one.model} onChange={(event) => choose(one.role, event.currentTarget.value)}>
              <option value="">none chosen</option>
              {[...new Set([...(one.model ? [one.model] : []), ...models.map((model) => model.model)])].map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          </li>
        ))}
      </ul>
      <Trouble problem={problem.value} />
      <p class="soft small">A step or an agent that says <code>model: strong</code> gets what is chosen here; all others get the default.</p>
    </section>
  );
}
