/** A session that another Weft exported. */
import { useSignal } from "@preact/signals";
import { problemOf, upload, type Problem } from "../api/client";
import type { Begun } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { go, to } from "../shell/address";
import { base } from "../store/desk";

export function Import() {
  const problem = useSignal<Problem | null>(null);
  const take = async (file: File | undefined): Promise<void> => {
    if (!file) return;
    const form = new FormData();
    form.append("bundle", file, file.name);
    try {
      go(to("s", (await upload<Begun>(`${base.value}/imports`, form)).session));
    } catch (error) {
      problem.value = problemOf(error);
    }
  };
  return (
    <>
      <label class="button filebutton">Import<input type="file" onChange={(event) => void take(event.currentTarget.files?.[0])} /></label>
      {problem.value && <Trouble problem={problem.value} />}
    </>
  );
}
