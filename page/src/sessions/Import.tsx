/** A session that another Weft exported. */
import { upload } from "../api/client";
import type { Begun } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { go, to } from "../shell/address";
import { base } from "../store/desk";

export function Import() {
  const { problem, act } = useDoing();
  const take = (file: File | undefined): void => {
    if (!file) return;
    const form = new FormData();
    form.append("bundle", file, file.name);
    void act(() => upload<Begun>(`${base.value}/imports`, form).then((begun) => go(to("s", begun.session))));
  };
  return (
    <>
      <label class="button filebutton">Import<input type="file" onChange={(event) => take(event.currentTarget.files?.[0])} /></label>
      <Trouble problem={problem.value} />
    </>
  );
}
