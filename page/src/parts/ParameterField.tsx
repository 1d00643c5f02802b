/** Values to be filled in, as they are declared; left alone, each is as usual. */
import type { Signal } from "@preact/signals";
import type { ParameterShown } from "../api/made";

interface Props {
  /** Of the field; those of its values begin with it. */
  readonly id: string;
  readonly fields: readonly ParameterShown[];
  readonly values: Signal<Readonly<Record<string, unknown>>>;
  /** By their names; otherwise by what they are about alone. */
  readonly named?: boolean;
}

export function ParameterFields({ id, fields, values, named = true }: Props) {
  const set = (name: string, value: unknown): void => {
    const { [name]: _, ...rest } = values.value;
    values.value = value === undefined ? rest : { ...rest, [name]: value };
  };
  return (
    <>
      {fields.map((one) => (
        <div key={one.name} class="parameter">
          <label for={`${id}-${one.name}`}>{named ? <><strong>{one.name}</strong> <span class="soft">{one.description}</span></> : one.description}</label>
          <ParameterField id={`${id}-${one.name}`} one={one} value={values.value[one.name]} set={(value) => set(one.name, value)} />
        </div>
      ))}
    </>
  );
}

function ParameterField({ id, one, value, set }: { id: string; one: ParameterShown; value: unknown; set: (value: unknown) => void }) {
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
