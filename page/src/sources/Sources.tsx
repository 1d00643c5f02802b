/** What the workspace is connected to: MCP servers, APIs, folders and searches; whether each works, and another added. */
import { useSignal } from "@preact/signals";
import { post } from "../api/client";
import type { SourceRow, SourceShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { count } from "../parts/words";
import { go, place, to } from "../shell/address";
import { base, mayChange } from "../store/desk";
import { SourcePage } from "./SourcePage";
import { SourceState } from "./SourceState";

export function Sources() {
  return place.value.of ? <SourcePage key={place.value.of} slug={place.value.of} /> : <All />;
}

function All() {
  const found = useAsked<readonly SourceRow[]>(`${base.value}/sources`);
  return (
    <div class="page">
      <h1>Sources</h1>
      <p class="standfirst">What agents can reach beyond this workspace. The tools that are listed here are the tools a model gets.</p>
      <Trouble problem={found.problem.value} />
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.slug}>
            <a class="row" href={to("sources", one.slug)}>
              <span class="title">{one.name || one.slug}<span class="described">{one.description || one.address || one.why}</span></span>
              <span class="facts"><SourceState source={one} />{one.state === "ready" && <span>{count(one.tools, "tool")}</span>}{!one.enabled && <span>only where it is named</span>}</span>
            </a>
          </li>
        ))}
      </ul>
      {found.found.value?.length === 0 && <p class="soft empty">None yet. An address, a command or the configuration of another program connects one.</p>}
      {mayChange.value && <Add again={found.again} title={found.found.value?.length ? "Connect another" : "Connect one"} />}
    </div>
  );
}

function Add({ again, title }: { again: () => void; title: string }) {
  const words = useSignal("");
  const text = useSignal("");
  const slug = useSignal("");
  const isApi = useSignal(false);
  const network = useSignal(false);
  const pasting = useSignal(false);
  const { busy, problem, act } = useDoing();
  const isAddress = /^https?:\/\//.test(words.value.trim());
  const isCommand = words.value.trim() !== "" && !isAddress && !/^[~/.]/.test(words.value.trim());
  const add = (event: Event): void => {
    event.preventDefault();
    void act(async () => {
      const given = pasting.value ? { text: text.value } : { words: words.value.trim(), kind: isAddress && isApi.value ? "api" : "", network: isCommand && network.value };
      const made = await post<readonly SourceShown[]>(`${base.value}/sources`, { ...given, slug: slug.value.trim() });
      if (made.length === 1 && made[0]) go(to("sources", made[0].slug));
      else again();
    });
  };
  return (
    <section aria-label={title} class="library">
      <h2 class="label">{title}</h2>
      <div class="filters" role="group" aria-label="How">
        <button type="button" aria-pressed={!pasting.value} onClick={() => (pasting.value = false)}>Address, folder or command</button>
        <button type="button" aria-pressed={pasting.value} onClick={() => (pasting.value = true)}>Paste a configuration</button>
      </div>
      <form class="stacked" onSubmit={add}>
        {pasting.value
          ? <textarea aria-label="Configuration" rows={8} spellcheck={false} placeholder={'{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}\n\nor an OpenAPI document'} value={text.value} onInput={(event) => (text.value = event.currentTarget.value)} />
          : <input aria-label="Address, folder or command" spellcheck={false} placeholder="https://…/mcp   or   uvx mcp-server-time   or   ~/notes" value={words.value} onInput={(event) => (words.value = event.currentTarget.value)} />}
        <div class="choices">
          <input aria-label="What it is called" placeholder="a name, if you like" value={slug.value} onInput={(event) => (slug.value = event.currentTarget.value)} />
          {!pasting.value && isAddress && <label class="option"><input type="checkbox" checked={isApi.value} onChange={() => (isApi.value = !isApi.value)} /> an HTTP API, not an MCP server</label>}
          {!pasting.value && isCommand && <label class="option"><input type="checkbox" checked={network.value} onChange={() => (network.value = !network.value)} /> it may use the network</label>}
          <button disabled={busy.value || !(pasting.value ? text.value : words.value).trim()}>Connect</button>
        </div>
        <p class="soft small">Nothing is started or reached yet: the next page says what it would reach, and tests it when you say so.</p>
      </form>
      <Trouble problem={problem.value} />
    </section>
  );
}
