/** Filters kept under a name, in this browser. */
import { signal } from "@preact/signals";
import { go, query } from "../shell/address";

const KEPT = "weft.views";
type Kept = Readonly<Record<string, string>>;

function read(): Kept {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "{}") as Kept;
  } catch {
    return {};
  }
}

const views = signal<Kept>(read());

function keep(next: Kept): void {
  views.value = next;
  localStorage.setItem(KEPT, JSON.stringify(next));
}

export function Views() {
  const here = query.value.toString();
  const names = Object.keys(views.value);
  const shown = names.find((name) => views.value[name] === here);
  if (!names.length && !here) return null;
  return (
    <div class="filters views" role="group" aria-label="Views">
      {names.map((name) => <button key={name} type="button" aria-pressed={name === shown} onClick={() => go(`/sessions?${views.value[name]}`)}>{name}</button>)}
      {shown ? (
        <button type="button" class="plain" onClick={() => keep(Object.fromEntries(Object.entries(views.value).filter(([name]) => name !== shown)))}>Forget this view</button>
      ) : here && (
        <button type="button" class="plain" onClick={() => {
          const name = prompt("A name for what is shown now")?.trim();
          if (name) keep({ ...views.value, [name]: here });
        }}>Keep as a view</button>
      )}
    </div>
  );
}
