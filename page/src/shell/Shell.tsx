/** The frame around every place: where one can go, what waits, and whether the server is there. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { get, signedOut } from "../api/client";
import { Trouble } from "../parts/Trouble";
import { choose, list, me, sessions, trouble, waiting, working, workspace } from "../store/desk";
import { go, place, to } from "./address";
import { Keys } from "./Keys";
import { Palette, paletteOpen } from "./Palette";
import { DOCUMENTATION, PLACES } from "./places";

function named(name: string): string {
  return name === "inbox" ? "" : (PLACES.find((one) => one.name === name)?.label ?? "");
}

export function Shell({ children }: { children: ComponentChildren }) {
  const waits = waiting.value.length;
  const { name: at, of } = place.value;
  const here = at === "session" ? (sessions.value.get(of)?.title ?? "") : at === "pipelines" || at === "knowledge" ? of || named(at) : named(at);
  useEffect(() => {
    document.title = `${waits ? `(${waits}) ` : ""}${here ? `${here} · ` : ""}Weft`;
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = waits ? "/static/icon-waits.svg" : "/static/icon.svg";
  }, [waits, here]);
  useEffect(() => {
    if (!signedOut.value) return;
    const timer = setInterval(() => void get("/api/me").catch(() => undefined), 3000); // whoever signs in elsewhere goes on here
    return () => clearInterval(timer);
  }, [signedOut.value]);
  const before = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    const fresh = waiting.value.filter((one) => !before.current.has(one.id));
    before.current = new Set(waiting.value.map((one) => one.id));
    if (!fresh.length || !document.hidden || !("Notification" in window) || Notification.permission !== "granted") return;
    for (const one of fresh) {
      const told = new Notification(one.title, { body: one.waits[0] ?? "waits for you", tag: one.id });
      told.onclick = () => {
        focus();
        go(to("s", one.id));
      };
    }
  }, [waiting.value]);
  const main = useRef<HTMLElement>(null);
  const arrived = useRef(false);
  useEffect(() => {
    if (arrived.current && document.activeElement === document.body) main.current?.focus({ preventScroll: true }); // came by a key
    arrived.current = true;
  }, [at, of]);
  const away = list.value?.link.value === "away";
  return (
    <div class="shell">
      <a class="skip" href="#main">To the content</a>
      <nav class="rail" aria-label="Places">
        <a class="wordmark" href="/">Weft</a>
        <ul>
          {PLACES.map(({ href, label, name, seldom }) => (
            <li key={href} class={seldom ? "seldom" : ""}>
              <a href={href} aria-current={place.value.name === name ? "page" : undefined}>
                {label}
                {name === "inbox" && waits > 0 && <span class="badge" aria-label={`${waits} wait`}>{waits}</span>}
                {name === "inbox" && !waits && working.value.length > 0 && <span class="badge quiet" aria-label={`${working.value.length} working`}>▸</span>}
              </a>
            </li>
          ))}
          <li class="more"><button type="button" class="plain" onClick={() => (paletteOpen.value = true)}>More</button></li>
        </ul>
        <div class="foot">
          <button type="button" class="plain" onClick={() => (paletteOpen.value = true)}>Find <kbd>Ctrl K</kbd></button>
          <a href={DOCUMENTATION} target="_blank">Documentation</a>
          {(me.value?.workspaces.length ?? 0) > 1 ? (
            <select aria-label="Workspace" value={workspace.value} onChange={(event) => choose(event.currentTarget.value)}>
              {me.value?.workspaces.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
            </select>
          ) : <span title={me.value?.workspaces[0]?.path}>{workspace.value}</span>}
        </div>
      </nav>
      <main id="main" ref={main} tabIndex={-1}>
        <p class="away" role="status">
          {signedOut.value ? <>You are signed out. <a href={`/sign-in?${new URLSearchParams({ next: location.pathname + location.search })}`} target="_blank">Sign in again</a> in another tab: what you wrote here stays, and goes on.</>
            : away ? "The server is away. Trying again…" : ""}
        </p>
        {trouble.value && !away && !signedOut.value && <Trouble problem={trouble.value} />}
        {children}
      </main>
      <Palette />
      <Keys />
    </div>
  );
}
