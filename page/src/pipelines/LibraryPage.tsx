/** An agent or a skill: what it is for, who uses it, what is wrong with it, and its text. */
import type { LibraryFile } from "../api/made";
import { NotHere } from "../parts/NotHere";
import { useAsked } from "../parts/useAsked";
import { to } from "../shell/address";
import { base } from "../store/desk";
import { TextEditor } from "./TextEditor";

export function LibraryPage({ kind, name }: { kind: "agent" | "skill"; name: string }) {
  const asked = useAsked<readonly LibraryFile[]>(`${base.value}/${kind}s`);
  const found = asked.found.value?.find((one) => one.name === name);
  if (asked.problem.value) return <NotHere title={name} problem={asked.problem.value} href="/pipelines" back="Pipelines" />;
  if (!asked.found.value) return <div class="page"><p class="soft loading" role="status">reading…</p></div>;
  if (!found) return <div class="page"><h1>There is no {kind} {name}</h1><p><a href="/pipelines">To the pipelines</a></p></div>;
  const facts: [string, string][] = [["Model", found.model], ["Tools", found.tools.join(", ")], ["Skills", found.skills.join(", ")]];
  return (
    <div class="page wide-page">
      <p class="crumb"><a href="/pipelines">Pipelines</a> · {kind}</p>
      <h1>{found.name}</h1>
      <p class="standfirst">{found.description}</p>
      <dl class="fields">
        {facts.filter(([, value]) => value).map(([label, value]) => <div key={label} class="short"><dt>{label}</dt><dd>{value}</dd></div>)}
        <div class="short"><dt>Used by</dt><dd>{found.used_by.length ? found.used_by.map((one) => <a key={one} class="file" href={to("pipelines", one.split(/[ .:/]/)[0] ?? one)}>{one}</a>) : <span class="soft">nobody yet</span>}</dd></div>
      </dl>
      <section aria-label="Text">
        <TextEditor file={found.file} text={found.text} hash={found.hash} address={`${base.value}/${kind}s/${encodeURIComponent(name)}`} problems={found.problems} saved={asked.again} />
      </section>
    </div>
  );
}
