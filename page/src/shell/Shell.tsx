/** The frame around every place: where one can go, what waits, and whether the server is there. */
import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { Trouble } from "../parts/Trouble";
import { choose, list, me, trouble, waiting, working, workspace } from "../store/desk";
import { place } from "./address";

const PLACES = [
  ["/", "Inbox", "inbox"],
  ["/new", "New", "new"],
  ["/sessions", "Sessions", "sessions"],
] as const;

export function Shell({ children }: { children: ComponentChildren }) {
  const waits = waiting.value.length;
  useEffect(() => {
    document.title = waits ? `(${waits}) Weft` : "Weft";
    const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (icon) icon.href = waits ? "/static/icon-waits.svg" : "/static/icon.svg";
  }, [waits]);
  const away = list.value?.link.value === "away";
  return (
    <div class="shell">
      <a class="skip" href="#main">To the content</a>
      <nav class="rail" aria-label="Places">
        <a class="wordmark" href="/">Weft</a>
        <ul>
          {PLACES.map(([href, label, name]) => (
            <li key={href}>
              <a href={href} aria-current={place.value.name === name ? "page" : undefined}>
                {label}
                {name === "inbox" && waits > 0 && <span class="badge" aria-label={`${waits} wait`}>{waits}</span>}
                {name === "inbox" && !waits && working.value.length > 0 && <span class="badge quiet" aria-label={`${working.value.length} working`}>▸</span>}
              </a>
            </li>
          ))}
        </ul>
        <div class="foot">
          {(me.value?.workspaces.length ?? 0) > 1 ? (
            <select aria-label="Workspace" value={workspace.value} onChange={(event) => choose(event.currentTarget.value)}>
              {me.value?.workspaces.map((one) => <option key={one.name} value={one.name}>{one.name}</option>)}
            </select>
          ) : <span title={me.value?.workspaces[0]?.path}>{workspace.value}</span>}
        </div>
      </nav>
      <main id="main" tabIndex={-1}>
        <p class="away" role="status">{away ? "The server is away. Trying again…" : ""}</p>
        {trouble.value && !away && <Trouble problem={trouble.value} />}
        {children}
      </main>
    </div>
  );
}
