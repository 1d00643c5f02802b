/** One page for a conversation, its runs and its artifacts, because they are one log. */
import { useSignal } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { askKey } from "../asks/Asked";
import { State } from "../parts/State";
import { count as counted, money, tokens } from "../parts/words";
import { command } from "../api/client";
import { go, place, to } from "../shell/address";
import { type Entry, entriesHere } from "../shell/Palette";
import { base, chooseWhereItIs, look, sessions } from "../store/desk";
import { OpenSession } from "../store/open";
import { ArtifactPanel } from "./ArtifactPanel";
import { ClaimPanel } from "./ClaimPanel";
import { Composer } from "./Composer";
import { Marks } from "./Marks";
import { Processes } from "./Processes";
import { LogPanel } from "./LogPanel";
import { Share } from "./Share";
import { SourcePanel } from "./SourcePanel";
import { SelectionAsk } from "./SelectionAsk";
import { Settled } from "./Settled";
import { Timeline } from "./Timeline";

function Missing({ id }: { id: string }) {
  const nowhere = useSignal(false);
  useEffect(() => {
    void chooseWhereItIs(id).then((found) => (nowhere.value = !found));
  }, [id]);
  if (!nowhere.value) return <div class="page"><p class="soft loading" role="status">looking for it…</p></div>;
  return <div class="page"><h1>There is no such session</h1><p class="soft">It may be in the <a href="/sessions/trash">trash</a>. <a href="/sessions">All sessions</a></p></div>;
}

export function Session({ id }: { id: string }) {
  const open = useMemo(() => {
    const [what, event] = place.peek().inside;
    return new OpenSession(base.value, id, what === "event" ? Number(event) || 0 : 0);
  }, [id, base.value]);
  useEffect(() => () => open.close(), [open]);
  useEffect(() => {
    entriesHere.value = () => entriesOf(open);
    return () => {
      entriesHere.value = () => [];
    };
  }, [open]);
  const quote = useSignal("");
  const [kind = "", name = ""] = place.value.inside;
  const beside = usePanelFocus(open.caughtUp.value && BESIDE.includes(kind));
  if (open.missing.value) return <Missing id={id} />;
  const panel = kind === "artifact" ? <ArtifactPanel key={name} open={open} name={name} />
    : kind === "claim" || kind === "cited" ? <ClaimPanel open={open} kind={kind} name={name} />
    : kind === "source" ? <SourcePanel key={name} open={open} input={name} /> : kind === "log" || kind === "event"
    ? <LogPanel open={open} at={kind === "event" ? Number(name) : 0} /> : null;
  return (
    <div class={`session ${panel ? "with-panel" : ""}`}>
      <div class="main">
        <Head open={open} />
        {open.caughtUp.value ? <Timeline open={open} /> : <p class="soft loading" role="status">reading the log…</p>}
        <SelectionAsk open={open} quote={quote} />
        <div class="dock">
          <AsksLine open={open} />
          <Processes open={open} />
          <Composer open={open} quote={quote} />
          {open.caughtUp.value && open.fold.talk.main && <Settled open={open} />}
        </div>
      </div>
      {panel && (
        <aside class="panel" ref={beside} tabIndex={-1} aria-label={kind === "claim" || kind === "cited" ? "Evidence" : name || "log"} onKeyDown={(event) => {
          if (event.key === "Escape" && !event.defaultPrevented) {
            event.preventDefault();
            go(to("s", id));
          }
        }}>
          <a class="close" href={to("s", id)} aria-label="Close">✕</a>
          {panel}
        </aside>
      )}
    </div>
  );
}

const BESIDE: readonly string[] = ["artifact", "claim", "cited", "source", "log", "event"];

/** Who opens a panel is in it, and who closes it is back where they were. */
function usePanelFocus(isOpen: boolean) {
  const panel = useRef<HTMLElement>(null);
  const opener = useRef<HTMLElement | null>(null);
  useEffect(() => {
    if (isOpen) {
      const before = document.activeElement;
      if (before instanceof HTMLElement && before !== document.body) {
        opener.current = before;
        panel.current?.focus({ preventScroll: true });
      }
    } else {
      opener.current?.focus({ preventScroll: true });
      opener.current = null;
    }
  }, [isOpen]);
  return panel;
}

/** What of this session the palette reaches. */
function entriesOf(open: OpenSession): Entry[] {
  const { fold } = open;
  const inside = (label: string, about: string, ...parts: string[]): Entry => ({ label, about, act: () => go(to("s", open.id, ...parts)) });
  return [
    ...(open.working ? [{ label: "Stop what runs", about: "here", act: () => void command(open.base, open.id, { type: "interrupt" }).catch(() => undefined) }] : []),
    ...[...(fold.runs.last?.steps.keys() ?? [])].map((name) => inside(name, "step, here", "step", name)),
    ...[...fold.artifacts.keys()].map((name) => inside(name, "artifact, here", "artifact", name)),
    ...fold.inputs.map((one) => inside(one.input === "source" ? "The document" : one.input, "here", "source", one.input)),
    inside("The log", "here", "log"),
  ];
}

function Head({ open }: { open: OpenSession }) {
  open.shown.value;
  const entry = sessions.value.get(open.id);
  const { fold } = open;
  const marking = useSignal<"" | "marks" | "share">("");
  const toggle = (which: "marks" | "share") => () => (marking.value = marking.value === which ? "" : which);
  const title = entry?.title ?? open.id;
  useEffect(() => {
    if (open.caughtUp.value) void look(open.id);
  }, [open.caughtUp.value, fold.working, fold.asks.length]);
  const facts = [
    entry?.pipeline || (entry ? "conversation" : ""),
    fold.model || fold.status?.model || entry?.model || "",
    entry?.tokens ? tokens(entry.tokens) : "",
    entry?.tokens ? money(entry.usd) : "",
    fold.status?.context_used != null ? `${Math.round(fold.status.context_used * 100)} % of the context` : "",
    fold.status?.limits ?? "",
  ].filter(Boolean);
  const link = open.stream.link.value;
  const told = useCaughtUp(open, link);
  return (
    <header class="head">
      <div>
        <h1 dir="auto">{entry?.flag && <span title="flagged"><span aria-hidden="true">⚑ </span><span class="unseen">flagged: </span></span>}{title}</h1>
        <p class="facts">
          {entry && <State state={fold.asks.length ? "waiting" : open.working ? "working" : entry.state === "waiting" || entry.state === "working" ? "idle" : entry.state} of="session" />}
          {facts.map((fact) => <span key={fact}>{fact}</span>)}
          <a href={to("s", open.id, "log")}>{counted(fold.seq, "event")}</a>
          {fold.inputs[0] && <a href={to("s", open.id, "source", fold.inputs[0].input)}>the {fold.inputs[0].input === "source" ? "document" : fold.inputs[0].input}</a>}
          {entry?.status && <span>{entry.status}</span>}
          {Object.entries(entry?.labels ?? {}).map(([name, value]) => <span key={name} class="tag">{value ? `${name}: ${value}` : name}</span>)}
          {entry && <button type="button" class="plain" aria-expanded={marking.value === "marks"} onClick={toggle("marks")}>Organise</button>}
          <button type="button" class="plain" aria-expanded={marking.value === "share"} onClick={toggle("share")}>Share</button>
        </p>
      </div>
      {entry && marking.value === "marks" && <Marks entry={entry} close={() => (marking.value = "")} />}
      {marking.value === "share" && <Share open={open} close={() => (marking.value = "")} />}
      <p class="link" role="status">{link === "away" ? "The server is away; this is what it said last. Trying again…" : told}</p>
    </header>
  );
}

const TOLD_MS = 6000;

/** After a time without the server: that all of it is here again, said once and quietly. */
function useCaughtUp(open: OpenSession, link: string): string {
  const told = useSignal("");
  const left = useRef<number | null>(null);
  useEffect(() => {
    if (link === "away") left.current ??= open.fold.seq;
    else if (left.current !== null) {
      const before = left.current;
      left.current = null;
      const settle = setTimeout(() => (told.value = `Here again, with ${counted(open.fold.seq - before, "event")} that came meanwhile.`), 400);
      const quiet = setTimeout(() => (told.value = ""), TOLD_MS);
      return () => {
        clearTimeout(settle);
        clearTimeout(quiet);
        told.value = "";
      };
    }
  }, [link]);
  return told.value;
}

/** What waits, where one always sees it. */
function AsksLine({ open }: { open: OpenSession }) {
  open.shown.value;
  const asks = open.fold.asks;
  const seen = useSignal(false);
  const count = asks.length;
  useEffect(() => {
    const found = document.querySelector(".timeline .ask");
    if (!found) {
      seen.value = false;
      return;
    }
    const watch = new IntersectionObserver(([one]) => (seen.value = one?.isIntersecting === true), { rootMargin: "0px 0px -140px 0px" });
    watch.observe(found);
    return () => watch.disconnect();
  }, [count, asks[0] && askKey(asks[0])]);
  if (!count || seen.value) return null;
  const [first] = asks;
  const label = first?.kind === "gate" ? first.gate.opened.message || `Shall it go on after ${first.gate.opened.step}?`
    : first?.kind === "approval" ? `May ${first.call.tool} do this?` : first?.kind === "question" ? "A question for you" : first?.kind === "plan" ? "Shall it be done like this?" : "Do you mean this?";
  return (
    <button type="button" class="asksline" onClick={() => document.querySelector(".timeline .ask")?.scrollIntoView({ block: "center", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" })}>
      <span class="sign" aria-hidden="true">?</span>
      <span>{label}</span>
      {count > 1 && <span class="soft">and {count - 1} more</span>}
    </button>
  );
}
