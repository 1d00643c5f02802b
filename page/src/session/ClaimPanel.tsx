/** One sentence of an answer beside it: what is known of it and by whom, its passages, and a person's own word on it. */
import { useSignal } from "@preact/signals";
import { useAnswering } from "../asks/answering";
import type { ArtifactText } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { jsonOf } from "../parts/json";
import { useAsked } from "../parts/useAsked";
import { query, to } from "../shell/address";
import type { OpenSession } from "../store/open";
import { at } from "./addresses";
import { type Answer, answerOf, byWhom, marked, type Sentence, sentencesOf, type Source, unwrapped, type Verdict, VERDICTS } from "./answer";
import { placeWords } from "./AnswerView";

export function ClaimPanel({ open, kind, name }: { open: OpenSession; kind: "claim" | "cited"; name: string }) {
  open.shown.value;
  const artifact = query.value.get("in") ?? "answer.json";
  const newest = open.fold.artifacts.get(artifact)?.at(-1)?.hash ?? "";
  const text = useAsked<ArtifactText>(newest ? at(open, "artifacts", artifact) : "", newest);
  const answer = text.found.value ? answerOf(jsonOf(text.found.value.text)) : null;
  if (text.problem.value) return <Trouble problem={text.problem.value} />;
  if (!answer) return <p class="soft loading" role="status">{newest || !open.caughtUp.value ? "opening…" : "There is no such answer here."}</p>;
  const one = kind === "claim" ? sentencesOf(answer).find((sentence) => sentence.id === name) : undefined;
  if (kind === "claim" && !one) return <p class="soft">This sentence is not in the answer any more: it was made again.</p>;
  const all = [...answer.sources, ...answer.nearest];
  const sources = (one?.labels ?? [name]).flatMap((label) => all.find((source) => source.label === label) ?? []);
  return (
    <div class="evidence">
      <header><h2>{one ? "What this rests on" : "The passage"}</h2></header>
      {one && <Known key={one.id} one={one} open={open} />}
      {sources.map((source) => <Passage key={source.label} source={source} sentence={one?.text ?? ""} answer={answer} />)}
      {one && !sources.length && <p class="soft">It names no passage.</p>}
    </div>
  );
}

function Known({ one, open }: { one: Sentence; open: OpenSession }) {
  const { sign, word, means } = VERDICTS[one.state];
  return (
    <>
      <blockquote class="claimed" dir="auto">{one.text}</blockquote>
      <p class={`verdict is-${one.state}`}><span class="sign" aria-hidden="true">{sign}</span> <strong>{word}</strong> {byWhom(one)}</p>
      <p class="soft">{one.overruled?.why || one.reason || means}</p>
      <Overrule one={one} open={open} />
    </>
  );
}

function Overrule({ one, open }: { one: Sentence; open: OpenSession }) {
  const answering = useAnswering(open.base, open.id);
  const verdict = useSignal<Verdict>(one.state === "contradicted" ? "judged" : "contradicted");
  const why = useSignal("");
  return (
    <details class="overrule">
      <summary>I know better</summary>
      <form onSubmit={(event) => {
        event.preventDefault();
        void answering.give({ type: "overrule_verdict", claim: one.id, verdict: verdict.value, why: why.value.trim() });
      }}>
        <label>It is <select value={verdict.value} onChange={(event) => (verdict.value = event.currentTarget.value as Verdict)}>
          {(Object.keys(VERDICTS) as Verdict[]).filter((state) => state !== one.state && state !== "quoted").map((state) => <option key={state} value={state}>{state === "judged" ? "judged by you" : VERDICTS[state].word}</option>)}
        </select></label>
        <label>because <input required dir="auto" value={why.value} onInput={(event) => (why.value = event.currentTarget.value)} /></label>
        <div class="choices"><button disabled={!why.value.trim() || answering.busy.value}>Say so</button></div>
        <p class="soft small">Your word is kept with your name, and what was made with the old verdict is made again.</p>
      </form>
      <Trouble problem={answering.problem.value} />
    </details>
  );
}

function Passage({ source, sentence, answer }: { source: Source; sentence: string; answer: Answer }) {
  const where = source.kind === "web" ? (source.url ?? "") : source.kind === "earlier" ? to("s", source.session ?? "")
    : to("knowledge", answer.collection.name, "passage", source.ref || source.id);
  return (
    <section class="cited" aria-label={`Source ${source.label}`}>
      <p class="where"><span class="badge-label">{source.label}</span> <a href={where} {...(source.kind === "web" ? { target: "_blank", rel: "noopener noreferrer" } : {})}>{source.title || source.ref}</a> <span class="soft">{placeWords(source)}</span></p>
      <p class="passages" dir="auto">{(sentence ? marked(unwrapped(source.text), sentence) : [unwrapped(source.text)]).map((part, index) => (index % 2 ? <mark key={index}>{part}</mark> : part))}</p>
    </section>
  );
}
