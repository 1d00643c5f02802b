/** Beginning something: each wish has a key, so that a second click begins nothing twice. */
import { newKey, post, upload } from "../api/client";
import type { BatchShown, Begun, NewPlan, NewSession } from "../api/made";
import { go, to } from "../shell/address";
import { base } from "../store/desk";

export async function begin(wish: NewSession, files: readonly File[] = []): Promise<void> {
  const asked = { ...wish, key: wish.key ?? newKey() };
  const begun = files.length ? await upload<Begun>(`${base.value}/uploads`, formOf(asked, files)) : await post<Begun>(`${base.value}/sessions`, asked);
  go(to("s", begun.session));
  scrollTo(0, 0);
}

/** A session for each file. */
export function beginBatch(wish: NewSession, files: readonly File[]): Promise<BatchShown> {
  return upload<BatchShown>(`${base.value}/batches`, formOf({ ...wish, key: newKey() }, files));
}

/** What it would do and cost. Nothing is made. */
export function forecast(wish: NewSession, files: readonly File[]): Promise<NewPlan> {
  return files.length ? upload<NewPlan>(`${base.value}/uploads/plan`, formOf(wish, files)) : post<NewPlan>(`${base.value}/plan`, wish);
}

function formOf(wish: NewSession, files: readonly File[]): FormData {
  const form = new FormData();
  for (const file of files) form.append("files", file, file.name);
  form.append("asked", JSON.stringify(wish));
  return form;
}
