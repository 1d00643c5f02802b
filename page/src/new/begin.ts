/** Beginning something: each wish has a key, so that a second click begins nothing twice. */
import { newKey, post, upload } from "../api/client";
import type { Begun, NewSession } from "../api/made";
import { go, to } from "../shell/address";
import { base } from "../store/desk";

export async function begin(wish: NewSession, files: readonly File[] = [], stay = false): Promise<void> {
  const asked = { ...wish, key: wish.key ?? newKey() };
  let begun: Begun;
  if (files.length) {
    const form = new FormData();
    for (const file of files) form.append("files", file, file.name);
    form.append("asked", JSON.stringify(asked));
    begun = await upload<Begun>(`${base.value}/uploads`, form);
  } else begun = await post<Begun>(`${base.value}/sessions`, asked);
  if (stay) return;
  go(to("s", begun.session));
  scrollTo(0, 0);
}
