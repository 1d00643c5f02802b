/** Markdown and code as the server formats them. Until it has, and for what is being written, the text as it is. */
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { post } from "../api/client";
import { Html } from "./Html";

type Kind = "markdown" | "code";
interface Wanted {
  readonly kind: Kind;
  readonly text: string;
  readonly language: string;
}
const MOST_KEPT = 400;
const MOST_AT_ONCE = 100;
const made = new Map<string, string>();
const waiting = new Map<string, { wanted: Wanted; then: ((html: string) => void)[] }>();
const unable = signal(false);

/** One request for everything that was asked for in the same moment. */
function format(wanted: Wanted): Promise<string> {
  const key = `${wanted.kind} ${wanted.language} ${wanted.text}`;
  const known = made.get(key);
  if (known !== undefined) return Promise.resolve(known);
  return new Promise((then) => {
    const same = waiting.get(key);
    if (same) same.then.push(then);
    else waiting.set(key, { wanted, then: [then] });
    if (waiting.size === 1 && !same) setTimeout(() => void flush(), 16);
  });
}

async function flush(): Promise<void> {
  const asked = [...waiting].slice(0, MOST_AT_ONCE);
  for (const [key] of asked) waiting.delete(key);
  if (waiting.size) setTimeout(() => void flush(), 0);
  try {
    const answer = await post<{ html: readonly string[] }>("/api/render", { texts: asked.map(([, one]) => one.wanted) });
    asked.forEach(([key, one], index) => {
      const html = answer.html[index] ?? "";
      if (made.size >= MOST_KEPT) made.delete(made.keys().next().value ?? "");
      made.set(key, html);
      for (const then of one.then) then(html);
    });
    unable.value = false;
  } catch {
    unable.value = true; // the text stands there as it is
  }
}

const NEAR = "800px";
const seen = new Map<Element, () => void>();
let watch: IntersectionObserver | null = null;

/** Once it comes near what one looks at; gives what ends the waiting. */
function whenNear(element: Element, then: () => void): () => void {
  watch ??= new IntersectionObserver((entries) => {
    for (const one of entries) if (one.isIntersecting) seen.get(one.target)?.();
  }, { rootMargin: NEAR });
  const done = (): void => {
    seen.delete(element);
    watch?.unobserve(element);
  };
  seen.set(element, () => {
    done();
    then();
  });
  watch.observe(element);
  return done;
}

const EVERY_MS = 350;
/** Of the time, for what is formatted again and again while it is written: the longer it takes the less often it is. */
const SHARE = 0.1;

export function Formatted({ text, kind = "markdown", language = "", live = false }: {
  text: string;
  kind?: Kind;
  language?: string;
  live?: boolean;
}) {
  const html = useSignal<{ html: string; of: string } | null>(known(kind, language, text));
  const latest = useRef(text);
  latest.current = text;
  const last = useRef(0);
  const took = useRef(0);
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const near = useSignal(live || html.value !== null);
  useEffect(() => (near.value || !root.current ? undefined : whenNear(root.current, () => (near.value = true))), []);
  useEffect(() => {
    if (!near.value || !text || html.value?.of === text || timer.current !== null) return;
    timer.current = setTimeout(() => {
      timer.current = null;
      last.current = Date.now();
      const asked = latest.current;
      void format({ kind, text: asked, language }).then((found) => {
        took.current = Date.now() - last.current;
        if (latest.current.startsWith(asked)) html.value = { html: found, of: asked };
      });
    }, live ? Math.max(0, last.current + Math.max(EVERY_MS, took.current / SHARE) - Date.now()) : 0);
  }, [text, kind, language, live, near.value]);
  const shown = html.value;
  if (!shown || !(text === shown.of || (live && text.startsWith(shown.of))))
    return <div ref={root} class={`formatted plain ${kind}`} dir="auto">{text}</div>;
  const rest = text.slice(shown.of.length);
  return (
    <div ref={root} class={`formatted ${kind}`} dir="auto">
      {live ? <div dangerouslySetInnerHTML={{ __html: shown.html }} /> : <Html html={shown.html} />}
      {rest && <div class="plain">{rest}</div>}
    </div>
  );
}

function known(kind: Kind, language: string, text: string): { html: string; of: string } | null {
  const html = made.get(`${kind} ${language} ${text}`);
  return html === undefined ? null : { html, of: text };
}
