/** Before anything begins: the steps there will be, and with a model about what they cost. */
import type { Estimate, NewPlan, NewSession } from "../api/made";
import { Trouble } from "../parts/Trouble";
import { useSettled } from "../parts/useSettled";
import { count, money } from "../parts/words";
import { forecast } from "./begin";

/** Larger files are read once, when it begins. */
const MOST_BYTES = 20_000_000;

export function Forecast({ wish, files, each }: { wish: NewSession; files: readonly File[]; each: number }) {
  const looked = each > 1 ? files.slice(0, 1) : files; // of many alike, the first tells
  const tooMuch = looked.reduce((sum, file) => sum + file.size, 0) > MOST_BYTES || Boolean(wish.address);
  const key = JSON.stringify([wish, looked.map((file) => [file.name, file.size])]);
  const { found, problem } = useSettled<NewPlan>(tooMuch ? null : key, () => forecast(wish, looked));
  if (tooMuch) return null;
  if (problem.value) return <Trouble problem={problem.value} />;
  const plan = found.value;
  if (!plan) return <p class="soft small" role="status">looking at it…</p>;
  const runs = plan.lines.filter((line) => line.action === "run");
  return (
    <section class="forecast" aria-label="What will happen">
      <h2 class="label">What will happen</h2>
      <ol class="chain">{runs.map((line) => <li key={line.step}>{line.step}</li>)}</ol>
      <p><Cost one={plan.estimate} each={each} /></p>
      {plan.notes.map((note) => <p key={note} class="soft small">{note}</p>)}
    </section>
  );
}

function Cost({ one, each }: { one: Estimate; each: number }) {
  const words = `${count(one.words, "word")} to read`;
  if (!one.steps.length) return <>{words}. No model is asked: it costs nothing, and nothing leaves this machine.</>;
  const who = `${one.models.join(" and ")} ${one.models.length > 1 ? "are" : "is"} asked by ${one.steps.join(", ")}`;
  if (one.low === null || one.high === null) return <>{words}; {who}. What that costs is not known: the model has no price here.</>;
  const [low, high] = [money(one.low * each), money(one.high * each)];
  return (
    <>
      {words}{each > 1 && " in the first"}; {who}: <strong>{low === high ? `about ${low}` : `${low} to ${high}`}</strong>{" "}
      <span class="soft">{one.runs ? `as the last ${one.runs === 1 ? "run" : `${one.runs} runs`} took` : "reckoned from its length; nothing like it was run yet"}{each > 1 && `, for all ${each}`}</span>
    </>
  );
}
