/** One source: what it reaches, whether it works, sign-in, its guide, and each tool as a model is offered it. */
import { useSignal } from "@preact/signals";
import { post, put, remove } from "../api/client";
import type { Job, SourceShown, SourceToolShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { useJob } from "../parts/useJob";
import { count, now, since } from "../parts/words";
import { go, to } from "../shell/address";
import { base, mayChange } from "../store/desk";
import { SourceState } from "./SourceState";

export function SourcePage({ slug }: { slug: string }) {
  const address = `${base.value}/sources/${encodeURIComponent(slug)}`;
  const found = useAsked<SourceShown>(address);
  const one = found.found.value;
  return (
    <div class="page wide-page">
      <p class="crumb"><a href="/sources">Sources</a></p>
      <h1 dir="auto">{one?.name || slug}</h1>
      <Trouble problem={found.problem.value} />
      {!one && !found.problem.value && <p class="soft loading" role="status">reading…</p>}
      {one && <Known one={one} address={address} again={found.again} />}
    </div>
  );
}

function Known({ one, address, again }: { one: SourceShown; address: string; again: () => void }) {
  const testing = useSignal(false);
  const { busy, problem, act } = useDoing();
  const test = async (): Promise<void> => {
    testing.value = true;
    await act(() => post(`${address}/test`, {}).then(again));
    testing.value = false;
  };
  return (
    <>
      <p class="facts"><SourceState source={one} /><span>{one.kind}</span>{one.server && one.kind === "mcp" && <span>{one.server}</span>}{one.tested && <span>tested {since(one.tested, now.value)}</span>}<span>declared by the {one.declared}</span></p>
      {one.why && one.state !== "untested" && <p class="warning" role="status">{one.why}</p>}
      {one.description && !one.guide.startsWith(one.description) && <p dir="auto">{one.description}</p>}
      <section aria-label="What it reaches">
        <h2 class="label">What it reaches</h2>
        <ul class="plain-list">{one.reaches.map((text) => <li key={text}><code>{text}</code></li>)}</ul>
      </section>
      {mayChange.value && (
        <div class="choices">
          <button type="button" disabled={busy.value} onClick={() => void test()}>{testing.value ? "Testing…" : "Test it"}</button>
          {one.declared !== "project" && <label class="option"><input type="checkbox" checked={one.enabled} disabled={busy.value} onChange={() => void act(() => put(`${address}/enabled`, { enabled: !one.enabled }).then(again))} /> in every conversation, not only where an agent or a step names it</label>}
          {one.declared !== "project" && (
            <button type="button" class="plain" disabled={busy.value} onClick={() => {
              if (confirm(`Take ${one.slug} away? Its folder is moved aside, not deleted.`)) void act(() => remove(address).then(() => go(to("sources"))));
            }}>Take it away</button>
          )}
        </div>
      )}
      <Trouble problem={problem.value} />
      {mayChange.value && one.sign_in && <SignIn one={one} address={address} again={again} />}
      <Tools one={one} address={address} />
      {one.guide && <section aria-label="Guide" class="library"><h2 class="label">Guide, read by the model before first use</h2><pre class="guide" dir="auto">{one.guide}</pre></section>}
    </>
  );
}

/** By a secret that is typed, or in the address where the person agrees; what waited for it then goes on. */
function SignIn({ one, address, again }: { one: SourceShown; address: string; again: () => void }) {
  const secret = useSignal("");
  const { job, problem, begin, act } = useJob(again);
  const signIn = (event: Event): void => {
    event.preventDefault();
    void begin(post<Job>(`${address}/sign-in`, { secret: secret.value }));
    secret.value = "";
  };
  const going = job.value?.state === "working";
  const agree = going && /^https?:\/\//.test(job.value?.at ?? "") ? job.value?.at : "";
  return (
    <section aria-label="Sign-in" class="library">
      <h2 class="label">Sign-in</h2>
      <form class="inline" onSubmit={signIn}>
        {one.sign_in === "secret" && <input type="password" autocomplete="off" aria-label="Secret" placeholder="its key or password" value={secret.value} onInput={(event) => (secret.value = event.currentTarget.value)} />}
        <button disabled={going || (one.sign_in === "secret" && !secret.value)}>{going ? "Signing in…" : "Sign in"}</button>
        <button type="button" class="plain" onClick={() => void act(() => remove(`${address}/sign-in`).then(again))}>Forget it</button>
      </form>
      <div role="status">
        {agree && <p><a href={agree} target="_blank" rel="noreferrer noopener">Agree there</a> <span class="soft">{new URL(agree).host}, in a browser on the machine that the server runs on</span></p>}
        {job.value?.state === "done" && <p class="good">✓ signed in</p>}
        {job.value?.state === "failed" && <p class="warning bad">✗ not signed in</p>}
        {job.value?.notes.map((note) => <p key={note} class="soft small">{note}</p>)}
      </div>
      <Trouble problem={problem.value} />
    </section>
  );
}

const EFFECTS: Readonly<Record<string, string>> = { read: "reads", write: "changes things", network: "goes out" };

function Tools({ one, address }: { one: SourceShown; address: string }) {
  const found = useAsked<readonly SourceToolShown[]>(one.state === "ready" ? `${address}/tools` : "", one.tested);
  const tools = found.found.value;
  if (one.state !== "ready") return null;
  return (
    <section aria-label="Tools" class="library">
      <h2 class="label">{tools ? count(tools.length, "tool") : "Tools"}</h2>
      <Trouble problem={found.problem.value} />
      {tools?.map((tool) => (
        <details key={tool.name} class="tool">
          <summary><code>{tool.name}</code> <span class="soft">{EFFECTS[tool.effect] ?? tool.effect}</span> <span class="described" dir="auto">{tool.description.split("\n")[0]}</span></summary>
          <p dir="auto">{tool.description}</p>
          <pre class="terminal" tabIndex={0} aria-label={`What ${tool.name} takes`}>{JSON.stringify(tool.input_schema, null, 2)}</pre>
        </details>
      ))}
      {Object.entries(one.left_out).map(([name, why]) => <p key={name} class="warning small">left out: {name}: {why}</p>)}
      {one.prompts.length > 0 && <p class="soft small">Commands in a conversation: {one.prompts.map((name) => `/${one.slug}:${name}`).join(", ")}</p>}
    </section>
  );
}
