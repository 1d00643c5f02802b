/** How the conversation goes on: what its tools may do by themselves, and which model answers. */
import { useAnswering } from "../asks/answering";
import type { ModelRow, SetMode } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useList } from "../parts/useAsked";
import { base } from "../store/desk";
import type { OpenSession } from "../store/open";

/** What each mode lets tools do. */
export const MODES: Readonly<Record<SetMode["mode"], string>> = {
  plan: "plans, changes nothing", safe: "reads only", ask: "asks before it changes something", edits: "edits files by itself", auto: "does what the rules allow",
};

export function Settled({ open }: { open: OpenSession }) {
  open.shown.value;
  const answering = useAnswering(open.base, open.id);
  const models = useList<readonly ModelRow[]>(`${base.value}/models`);
  const { fold } = open;
  const model = fold.model || fold.status?.model || fold.talk.main?.cards.at(-1)?.model || "";
  const names = [...new Set([...(model ? [model] : []), ...(models.found.value?.map((one) => one.model) ?? [])])];
  return (
    <p class="settled">
      <select aria-label="What it may do" disabled={answering.busy.value} value={fold.mode || fold.status?.mode || "ask"} onChange={(event) => void answering.give({ type: "set_mode", mode: event.currentTarget.value as SetMode["mode"] })}>
        {(Object.keys(MODES) as SetMode["mode"][]).map((one) => <option key={one} value={one}>{one}: {MODES[one]}</option>)}
      </select>
      {names.length > 1 && (
        <select aria-label="Model" disabled={answering.busy.value} value={model} onChange={(event) => void answering.give({ type: "set_model", model: event.currentTarget.value })}>
          {!model && <option value="">as the workspace says</option>}
          {names.map((one) => <option key={one} value={one}>{one}</option>)}
        </select>
      )}
      <Trouble problem={answering.problem.value} />
    </p>
  );
}
