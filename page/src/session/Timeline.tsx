/** Everything that happened, in order. A long past is shown from its end; what is older comes when one scrolls there. */
import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { understoodWords } from "./understood";
import type { OpenSession } from "../store/open";
import type { Item } from "../store/session";
import { RunCard } from "./RunCard";
import { TurnCard } from "./TurnCard";
import { place } from "../shell/address";

const FIRST = 40;
const MORE = 80;

export function Timeline({ open }: { open: OpenSession }) {
  open.shown.value;
  const { items } = open.fold;
  const many = useSignal(FIRST);
  const end = useRef<HTMLDivElement>(null);
  const begin = useRef<HTMLButtonElement>(null);
  const follows = useRef(true);
  const height = useRef(0);

  const goal = place.value.inside[0] === "event" ? Number(place.value.inside[1]) : 0;
  const behind = goal ? items.findIndex((item) => item.seq >= goal) : -1;
  const shown = Math.max(many.value, behind >= 0 ? items.length - behind + 4 : 0);
  const from = Math.max(0, items.length - shown);

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
      if (one?.isIntersecting) {
        height.current = document.documentElement.scrollHeight - scrollY;
        many.value += MORE;
      }
    }, { rootMargin: "600px 0px 0px 0px" });
    seen.observe(begin.current);
    return () => seen.disconnect();
  }, [from > 0, many.value]);
  useLayoutEffect(() => {
    if (height.current) {
      scrollTo(0, document.documentElement.scrollHeight - height.current); // what one reads stays where it is
      height.current = 0;
    } else if (follows.current && !goal && items.length > 1) end.current?.scrollIntoView({ block: "end" });
  });
  useEffect(() => {
    if (goal && open.caughtUp.value) document.getElementById(`e${items[behind]?.seq ?? ""}`)?.scrollIntoView({ block: "center" });
  }, [goal, open.caughtUp.value]);

  const lastRun = items.findLastIndex((item) => item.kind === "run");
  return (
    <div class="timeline" role="feed" aria-busy={open.fold.working}>
      {from > 0 && <button type="button" class="plain" ref={begin} onClick={() => (many.value += MORE)}>{from} earlier</button>}
      {items.slice(from).map((item, index) => (
        <Shown key={keyOf(item)} item={item} rev={item.rev} open={open} isLast={from + index === lastRun} />
      ))}
      <div ref={end} />
    </div>
  );
}

function keyOf(item: Item): string {
  return item.kind === "said" || item.kind === "card" ? `${item.kind} ${item.key}` : `${item.kind} ${item.seq}`;
}

/** The fold changes its items in place: a component is drawn again when the revision it is given is another one. */
function Shown({ item, rev, open, isLast }: { item: Item; rev: number; open: OpenSession; isLast: boolean }) {
  switch (item.kind) {
    case "said":
      return (
        <div class={`said ${item.queued ? "queued" : ""}`} id={`e${item.seq}`}>
          <p dir="auto">{item.text}</p>
          {item.queued && <span class="soft small">kept for the next turn</span>}
          {item.understood && item.understood.meaning !== "not for it" && <span class="soft small">understood: {understoodWords(item.understood)}</span>}
        </div>
      );
    case "note":
      return <p class={item.look === "note" ? "note soft" : item.look === "error" ? "note warning bad" : "note warning"}>{item.text}</p>;
    case "card":
      return <TurnCard card={item} rev={rev} open={open} />;
    case "run":
      return <RunCard run={item} rev={rev} open={open} isLast={isLast} />;
  }
}
