/** What a run was for, where one looks first: the answer itself, or the beginning of what it wrote. */
import type { ArtifactText } from "../api/made";
import { Html } from "../parts/Html";
import { jsonOf } from "../parts/json";
import { useAsked } from "../parts/useAsked";
import { place, to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";
import { answerOf } from "./answer";
import { AnswerView } from "./AnswerView";

export function RunResult({ open, files }: { open: OpenSession; files: readonly string[] }) {
  const hash = (name: string): string => open.fold.artifacts.get(name)?.at(-1)?.hash ?? "";
  const json = files.find((name) => name.endsWith(".json")) ?? "";
  const prose = files.find((name) => name.endsWith(".md")) ?? "";
  const data = useAsked<ArtifactText>(json ? at(open, "artifacts", json) : "", hash(json));
  const answer = data.found.value ? answerOf(jsonOf(data.found.value.text)) : null;
  const text = useAsked<ArtifactText>(prose && (!json || (data.found.value && !answer)) ? at(open, "artifacts", prose) : "", hash(prose));
  if (answer) return <AnswerView answer={answer} session={open.id} artifact={json} />;
  const [kind, shown] = place.value.inside;
  if (!text.found.value || (kind === "artifact" && files.includes(shown ?? ""))) return null;
  const page = files.find((name) => name.endsWith(".html")) ?? prose;
  return (
    <div class="preview">
      <Html look="formatted document" html={text.found.value.html} />
      <p><a class="button" href={to("s", open.id, "artifact", page)}>Read all of it</a></p>
    </div>
  );
}
