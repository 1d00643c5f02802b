/** One value to be filled in, as it is declared; left alone it is as usual. */
import type { ParameterShown } from "../api/made";

export function ParameterField({ id, one, value, set }: { id: string; one: ParameterShown; value: unknown; set: (value: unknown) => void }) {
  if (one.type === "boolean")
    return (
      <select id={id} value={value === undefined ? "" : String(value)} onChange={(event) => set(event.currentTarget.value === "" ? undefined : event.currentTarget.value === "true")}>
        <option value="">{one.default ? "yes" : "no"} (as usual)</option><option value="true">yes</option><option value="false">no</option>
      </select>
    );
  if (one.choices.length)
    return (
      <select id={id} value={value === undefined ? "" : String(value)} onChange={(event) => set(one.choices.find((choice) => String(choice) === event.currentTarget.value))}>
        <option value="">{String(one.default)} (as usual)</option>
        {one.choices.map((choice) => <option key={String(choice)} value={String(choice)}>{String(choice)}</option>)}
      </select>
    );
  const number = one.type === "integer" || one.type === "number";
  const shown = { id, placeholder: `${one.default ?? ""}`, title: one.good, value: value === undefined ? "" : String(value) };
  return number
    ? <input type="number" {...shown} {...(one.minimum != null ? { min: one.minimum } : {})} {...(one.maximum != null ? { max: one.maximum } : {})} onInput={(event) => set(event.currentTarget.value === "" ? undefined : Number(event.currentTarget.value))} />
    : <input type="text" {...shown} onInput={(event) => set(event.currentTarget.value || undefined)} />;
}
