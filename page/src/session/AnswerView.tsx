/** An answer to be read: each sentence says what is known of it, and leads to its passage. */
import { count } from "../parts/words";
import { place, to } from "../shell/address";
import { type Answer, byWhom, type Sentence, sentencesOf, type Source, VERDICTS, type Verdict } from "./answer";

const REFUSALS: Readonly<Record<string, string>> = {
  unsure: "There is no sure answer. These passages come nearest:",
  not_said: "The documents do not say. What comes nearest:",
};

export function AnswerView({ answer, session, artifact }: { answer: Answer; session: string; artifact: string }) {
  const link = (kind: "claim" | "cited", id: string): string => `${to("s", session, kind, id)}?${new URLSearchParams({ in: artifact })}`;
  return (
    <div class="answer">
      {answer.nothing_found ? (
        <>
          <p>{answer.nearest.length ? (REFUSALS[answer.outcome ?? ""] ?? "Nothing was found that answers it. What comes nearest:") : "The documents do not say, and no passage is about it."}</p>
          <Nearest sources={answer.nearest} link={link} />
        </>
      ) : (
        <>
          {answer.sections.map((section) => (
            <section key={section.id}>
              {answer.sections.length > 1 && section.heading && <h3 dir="auto">{section.heading}</h3>}
              <p dir="auto">{section.sentences.map((one) => <Claim key={one.id} one={one} href={link("claim", one.id)} />)}</p>
            </section>
          ))}
          <Legend answer={answer} />
          {answer.nearest.length > 0 && <p class="soft small">Other passages that come near:</p>}
          <Nearest sources={answer.nearest} link={link} />
        </>
      )}
      {answer.not_answered.length > 0 && !answer.nothing_found && <p class="soft small">Not answered: {answer.not_answered.join("; ")}</p>}
    </div>
  );
}

function Nearest({ sources, link }: { sources: readonly Source[]; link: (kind: "cited", id: string) => string }) {
  if (!sources.length) return null;
  return (
    <ul class="nearest">
      {sources.map((one) => (
        <li key={one.label}>
          <a href={link("cited", one.label)}>{one.title || one.ref}</a> <span class="soft">{placeWords(one)}</span>
          <blockquote dir="auto">{one.glimpse ?? one.text}</blockquote>
        </li>
      ))}
    </ul>
  );
}

function Claim({ one, href }: { one: Sentence; href: string }) {
  const { sign, word } = VERDICTS[one.state];
  const [kind, id] = place.value.inside;
  return (
    <>
      {one.lead && <span class="soft">{one.lead} </span>}<span class={`sentence is-${one.state}`}>{one.text}</span>{one.code && <code class="lines" dir="ltr">{one.code}</code>}{" "}
      <a class={`claim is-${one.state}`} href={href} aria-current={kind === "claim" && id === one.id ? "true" : undefined} title={[word, byWhom(one)].filter(Boolean).join(" ")}>
        <span aria-hidden="true">{sign}</span>{one.state === "quoted" ? <span class="unseen">quoted, </span> : <span>{word}</span>}
        {one.labels.length > 0 && <span><span class="unseen">source </span>{one.labels.join(", ")}</span>}
      </a>{" "}
    </>
  );
}

function Legend({ answer }: { answer: Answer }) {
  const all = sentencesOf(answer);
  const judges = [...new Set(all.flatMap((one) => (one.judged_by ? [one.judged_by] : [])))];
  const told = (Object.keys(VERDICTS) as Verdict[]).flatMap((state) => {
    const many = all.filter((one) => one.state === state).length;
    return many ? [{ state, many }] : [];
  });
  return (
    <p class="legend soft small">
      {count(all.length, "sentence")}: {told.map(({ state, many }, index) => (
        <span key={state}>{index > 0 && " · "}<span aria-hidden="true">{VERDICTS[state].sign} </span>{many} {VERDICTS[state].word}{state === "judged" && judges.length > 0 && ` by ${judges.join(", ")}`}</span>
      ))}
      {answer.confidence != null && `; confidence that this answers: ${answer.level} (${Math.round(answer.confidence * 100)} %)`}
    </p>
  );
}

export function placeWords(source: Source): string {
  if (source.kind === "web") return source.url ?? "";
  if (source.kind === "earlier") return "an earlier answer";
  return [source.file, source.page ? `page ${source.page}` : ""].filter(Boolean).join(", ");
}
