/** Everything that happened, in order. A long past is shown from its end; what is older is fetched and drawn when one
 *  scrolls there, and what is off the screen is laid out by the browser only when it comes near. */
import { useSignal } from "@preact/signals";
import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { askKey, Asked } from "../asks/Asked";
import { PlanAsk } from "../asks/PlanAsk";
import type { OpenSession } from "../store/open";
import type { Item } from "../store/session";
import { RunCard } from "./RunCard";
import { SaidWords } from "./SaidWords";
import { TurnCard } from "./TurnCard";
import { place } from "../shell/address";

const FIRST = 40;
const MORE = 80;
const AGAIN_MS = 2_000;
/** Events of the log whose items are drawn together: when nothing of them has changed they are not looked at again. */
const TOGETHER = 256;

export function Timeline({ open }: { open: OpenSession }) {
  open.shown.value;
  const begins = open.begins.value;
  const { runs } = open.fold;
  const items = begins ? open.fold.items.filter((item) => item.seq >= begins || item === runs.last) : open.fold.items;
  const many = useSignal(FIRST);
  const again = useSignal(0); // it could not be fetched, and whoever reads is still there
  const end = useRef<HTMLDivElement>(null);
  const begin = useRef<HTMLButtonElement>(null);
  const follows = useRef(true);
  const height = useRef(0);

  const goal = place.value.inside[0] === "event" ? Number(place.value.inside[1]) : 0;
  const behind = goal ? items.findIndex((item) => item.seq >= goal) : -1;
  const shown = Math.max(many.value, behind >= 0 ? items.length - behind + 4 : 0);
  const from = Math.max(0, items.length - shown);
  const more = (): void => {
    height.current = document.documentElement.scrollHeight - scrollY;
    many.value += MORE;
    if (from < MORE && begins) void open.earlier().catch(() => setTimeout(() => (again.value += 1), AGAIN_MS));
  };

  useEffect(() => {
    const scrolled = (): void => {
      follows.current = document.documentElement.scrollHeight - innerHeight - scrollY < 120;
    };
    addEventListener("scroll", scrolled, { passive: true });
    return () => removeEventListener("scroll", scrolled);
  }, []);
  useEffect(() => {
    if (!begin.current) return;
    const seen = new IntersectionObserver(([one]) => {
      if (one?.isIntersecting) more();
    }, { rootMargin: "900px 0px 0px 0px" });
    seen.observe(begin.current);
    return () => seen.disconnect();
  }, [from > 0 || begins > 0, many.value, begins, again.value]);
  useLayoutEffect(() => {
    if (height.current) {
      scrollTo(0, document.documentElement.scrollHeight - height.current); // what one reads stays where it is
      height.current = 0;
    } else if (follows.current && !goal && items.length > 1) end.current?.scrollIntoView({ block: "end" });
  });
  useEffect(() => {
    if (goal && goal < begins) void open.whole();
    else if (goal && open.caughtUp.value) document.getElementById(`e${items[behind]?.seq ?? ""}`)?.scrollIntoView({ block: "center" });
  }, [goal, open.caughtUp.value, begins]);

  const [asks] = open.fold.asks;
  return (
    <>
      {(from > 0 || begins > 0) && <button type="button" class="plain earlier" ref={begin} onClick={more}>{begins ? "Earlier" : `${from} earlier`}</button>}
      <div class="timeline" role="feed" aria-busy={open.working}>
        {chunks(items.slice(from)).map((chunk) => (
          <Together key={chunk.key} items={chunk.items} rev={chunk.rev} open={open} last={runs.last} first={asks ? askKey(asks) : ""} />
        ))}
        {open.fold.asks.filter((ask) => ask.kind === "confirmation" || ask.kind === "question").map((ask) => (
          <article key={askKey(ask)}><Asked ask={ask} base={open.base} session={open.id} first /></article>
        ))}
        <div ref={end} />
      </div>
    </>
  );
}

interface Chunk {
  readonly key: number;
  readonly items: Item[];
  rev: number;
}

/** By their place in the log, so that they stay the same when older ones come before them. */
function chunks(items: readonly Item[]): Chunk[] {
  const found: Chunk[] = [];
  for (const item of items) {
    const last = found.at(-1);
    const key = Math.max(last?.key ?? 0, Math.floor(item.seq / TOGETHER));
    if (last?.key === key) {
      last.items.push(item);
      last.rev += item.rev;
    } else found.push({ key, items: [item], rev: item.rev });
  }
  return found;
}

interface Drawn {
  items: readonly Item[];
  /** The sum of theirs: the fold changes its items in place. */
  rev: number;
  open: OpenSession;
  last: Item | null;
  first: string;
}

class Together extends Component<Drawn> {
  override shouldComponentUpdate(next: Drawn): boolean {
    const { props } = this;
    return next.rev !== props.rev || next.last !== props.last || next.first !== props.first || next.items.length !== props.items.length ||
      next.items.some((item, index) => item !== props.items[index]);
  }

  override render({ items, open, last }: Drawn) {
    return <div class="chunk">{items.map((item) => <Shown key={keyOf(item)} item={item} rev={item.rev} open={open} isLast={item === last} />)}</div>;
  }
}

function keyOf(item: Item): string {
  return item.kind === "said" || item.kind === "card" ? `${item.kind} ${item.key}` : `${item.kind} ${item.seq}`;
}

/** The fold changes its items in place: a component is drawn again when the revision it is given is another one. */
function Shown({ item, rev, open, isLast }: { item: Item; rev: number; open: OpenSession; isLast: boolean }) {
  switch (item.kind) {
    case "said":
      return <SaidWords item={item} rev={rev} open={open} />;
    case "plan":
      return <article id={`e${item.seq}`}><PlanAsk key={item.decision ?? ""} base={open.base} session={open.id} plan={item} /></article>;
    case "note":
      return <p class={item.look === "note" ? "note soft" : item.look === "error" ? "note warning bad" : "note warning"}>{item.text}</p>;
    case "card":
      return <TurnCard card={item} rev={rev} open={open} />;
    case "run":
      return <RunCard run={item} rev={rev} open={open} isLast={isLast} />;
  }
}
