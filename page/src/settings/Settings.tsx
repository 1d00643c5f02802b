/** How the page looks, the person's profile, what a command would get, who is signed in where, and tokens for scripts. */
import { Judge } from "./Judge";
import { Profile } from "./Profile";
import { useSignal } from "@preact/signals";
import { post, remove } from "../api/client";
import type { BrowserShown, TokenMade, TokenShown } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useAsked } from "../parts/useAsked";
import { useDoing } from "../parts/useDoing";
import { now, since } from "../parts/words";
import { setTheme, theme } from "../shell/theme";
import { mayChange, me } from "../store/desk";

export function Settings() {
  return (
    <div class="page settings">
      <h1>Settings</h1>
      <section aria-label="Appearance">
        <h2 class="label">Appearance</h2>
        <div class="filters" role="group" aria-label="Appearance">
          {(["light", "dark", "system"] as const).map((one) => <button key={one} type="button" aria-pressed={theme.value === one} onClick={() => setTheme(one)}>{one}</button>)}
        </div>
      </section>
      <Profile />
      <Judge />
      <Notifications />
      {mayChange.value && <><Browsers /><Tokens /></>}
      <p class="soft small">Weft {me.value?.version} · {me.value?.person} ({me.value?.role}) · {me.value?.workspaces.map((one) => one.path).join(", ")}</p>
    </div>
  );
}

function Notifications() {
  const state = useSignal("Notification" in window ? Notification.permission : "denied");
  return (
    <section aria-label="Notifications">
      <h2 class="label">Notifications</h2>
      {state.value === "granted" ? <p>You are told by this browser when something begins to wait and the page is not in front.</p> : state.value === "denied"
        ? <p class="soft">This browser does not allow them here.</p>
        : <p><button type="button" onClick={() => void Notification.requestPermission().then((found) => (state.value = found))}>Tell me when something waits</button></p>}
    </section>
  );
}

function Browsers() {
  const found = useAsked<readonly BrowserShown[]>("/api/browsers");
  return (
    <section aria-label="Browsers">
      <h2 class="label">Browsers signed in</h2>
      <Trouble problem={found.problem.value} />
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.id} class="thing">
            <span>{agentWords(one.agent)} <span class="soft">{one.person} · since {since(one.created, now.value)}{one.this && " · this one"}</span></span>
            <button type="button" onClick={() => void remove(`/api/tokens/${one.id}`).then(() => (one.this ? location.assign("/sign-in") : found.again()))}>Sign out</button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function agentWords(agent: string): string {
  const name = /(Firefox|Edg|Chrome|Safari)\/[\d.]+/.exec(agent)?.[1]?.replace("Edg", "Edge") ?? (agent.slice(0, 40) || "a browser");
  const system = /(Windows|Mac OS X|Android|iPhone|Linux)/.exec(agent)?.[1] ?? "";
  return system ? `${name} on ${system}` : name;
}

function Tokens() {
  const found = useAsked<readonly TokenShown[]>("/api/tokens");
  const title = useSignal("");
  const write = useSignal(false);
  const made = useSignal<TokenMade | null>(null);
  const { problem, act } = useDoing();
  const make = (event: Event): void => {
    event.preventDefault();
    void act(async () => {
      made.value = await post<TokenMade>("/api/tokens", { title: title.value.trim(), scopes: write.value ? ["read", "write"] : ["read"], days: 90 });
      title.value = "";
      found.again();
    });
  };
  return (
    <section aria-label="Tokens">
      <h2 class="label">Tokens for scripts</h2>
      <ul class="rows">
        {found.found.value?.map((one) => (
          <li key={one.id} class="thing">
            <span>{one.title} <span class="soft">{one.scopes.join(", ")} · {one.person}{one.expires && ` · until ${one.expires.slice(0, 10)}`}</span></span>
            <button type="button" onClick={() => void remove(`/api/tokens/${one.id}`).then(found.again)}>Revoke</button>
          </li>
        ))}
      </ul>
      {made.value && (
        <div class="told-once" role="status"><p>It is shown this once:</p><pre class="terminal" tabIndex={0}>{made.value.secret}</pre></div>
      )}
      <Trouble problem={problem.value} />
      <form class="inline" onSubmit={make}>
        <input aria-label="What the token is for" placeholder="What it is for" required value={title.value} onInput={(event) => (title.value = event.currentTarget.value)} />
        <label class="option"><input type="checkbox" checked={write.value} onChange={() => (write.value = !write.value)} /> may change things</label>
        <button disabled={!title.value.trim()}>Make a token for 90 days</button>
      </form>
    </section>
  );
}
