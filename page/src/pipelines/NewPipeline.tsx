/** A pipeline that does not exist yet: from a template with comments, or as another one is now. */
import { useSignal } from "@preact/signals";
import { get, post, put } from "../api/client";
import type { NewFiles, PipelineShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { go, to } from "../shell/address";
import { base } from "../store/desk";

export function NewPipeline({ names }: { names: readonly string[] }) {
  const open = useSignal(false);
  const name = useSignal("");
  const from = useSignal("");
  const { problem, act } = useDoing();
  const make = (event: Event): void => {
    event.preventDefault();
    const wanted = name.value.trim();
    void act(async () => {
      if (from.value) await copyPipeline(from.value, wanted);
      else await post<NewFiles>(`${base.value}/library/pipeline/${encodeURIComponent(wanted)}`, {});
      go(to("pipelines", wanted));
    });
  };
  if (!open.value) return <button type="button" onClick={() => (open.value = true)}>New pipeline</button>;
  return (
    <form class="inline whole" onSubmit={make}>
      <input aria-label="Name of the new pipeline" placeholder="Name of the new pipeline" autofocus required pattern="[a-z0-9][a-z0-9_\-]*" title="small letters, digits, - and _" value={name.value} onInput={(event) => (name.value = event.currentTarget.value)} />
      <select aria-label="Made from" value={from.value} onChange={(event) => (from.value = event.currentTarget.value)}>
        <option value="">from the template</option>
        {names.map((one) => <option key={one} value={one}>like {one}</option>)}
      </select>
      <button class="primary" disabled={!name.value.trim()}>Make it</button>
      <button type="button" class="plain" onClick={() => (open.value = false)}>Leave it</button>
      <Trouble problem={problem.value} />
    </form>
  );
}

/** Its text under another name. */
export async function copyPipeline(name: string, wanted: string): Promise<void> {
  const { yaml } = await get<PipelineShown>(`${base.value}/pipelines/${encodeURIComponent(name)}`);
  await put(`${base.value}/pipelines/${encodeURIComponent(wanted)}`, { text: yaml.replace(/^name:.*$/m, `name: ${wanted}`), if: "" });
}
