import assert from "node:assert/strict";
import { test } from "node:test";
import type { Event } from "../api/made";
import { SessionFold } from "./session";

type Given = Partial<Event> & { type: Event["type"] };

/** Events as the server sends them: every field there. */
function folded(events: readonly (Given | { live: Given })[], fold = new SessionFold()): SessionFold {
  for (const one of events) {
    if ("live" in one) fold.apply(one.live as Event, null);
    else fold.apply(one as Event, fold.seq + 1, `2026-01-01T00:00:${String(fold.seq % 60).padStart(2, "0")}+00:00`);
  }
  return fold;
}

const main = { conversation: "main" };
const asked: Given[] = [
  { type: "message_accepted", ...main, message: "m1", text: "list the files", delivery: "started", origin: "person" },
  { type: "turn_started", ...main, turn: 1, messages: ["m1"], continues: null },
  { type: "intent_recorded", ...main, turn: 1, execution: "t1/model", kind: "model", call: null, interruptible: true },
];
const called: Given[] = [
  { type: "model_settled", ...main, turn: 1, execution: "t1/model", outcome: "completed", text: "I look.", thinking: [], reason: null, model: "m", usage: { input: 5, output: 2 }, ms: 10 },
  { type: "tool_requested", ...main, turn: 1, call: "c1", tool: "Shell", input: { command: "ls" }, verdict: "ask", reason: null, key: "Shell ls", prompt: null, malformed: null },
  { type: "approval_requested", ...main, turn: 1, call: "c1", tool: "Shell", reason: "it starts a process", tainted: false },
];
const answered: Given[] = [
  { type: "approval_decided", ...main, turn: 1, call: "c1", decision: "once", reason: null },
  { type: "intent_recorded", ...main, turn: 1, execution: "t1/c1", kind: "tool", call: "c1", interruptible: true },
  { type: "tool_settled", ...main, turn: 1, call: "c1", execution: "t1/c1", outcome: "succeeded", effect: "none", text: "a.txt", ms: 3 },
  { type: "turn_completed", ...main, turn: 1, disposition: "continue", key: "k", results: {} },
  { type: "turn_started", ...main, turn: 2, messages: [], continues: "k" },
  { type: "intent_recorded", ...main, turn: 2, execution: "t2/model", kind: "model", call: null, interruptible: true },
  { type: "model_settled", ...main, turn: 2, execution: "t2/model", outcome: "completed", text: "There is a.txt.", thinking: [], reason: null, model: "m", usage: {}, ms: 10 },
  { type: "turn_completed", ...main, turn: 2, disposition: "final", key: null, results: {} },
];

function card(fold: SessionFold) {
  const found = fold.items.findLast((item) => item.kind === "card");
  assert(found?.kind === "card");
  return found;
}

test("an answer with a call is one card, and what was said before the call is no answer", () => {
  const fold = folded([...asked, ...called, ...answered]);
  assert.deepEqual(fold.items.map((item) => item.kind), ["said", "card"]);
  assert.equal(card(fold).answer, "There is a.txt.");
  assert.deepEqual(card(fold).parts.map((part) => (part.kind === "call" ? part.call.text : part.text)), ["I look.", "a.txt"]);
  assert.equal(card(fold).open, false);
  assert.equal(fold.working, false);
});

test("an approval waits until it is decided", () => {
  const fold = folded([...asked, ...called]);
  assert.deepEqual(fold.asks.map((ask) => ask.kind), ["approval"]);
  assert.equal(fold.working, true);
  folded(answered.slice(0, 1), fold);
  assert.deepEqual(fold.asks, []);
});

test("what is written is joined, begins anew when it is told whole, and ends with its settlement", () => {
  const fold = folded(asked);
  const piece = (text: string, whole?: true) => ({ live: { type: "text_streamed" as const, ...main, execution: "t1/model", text, ...(whole ? { whole } : {}) } as Given });
  folded([piece("I "), piece("lo")], fold);
  assert.equal(card(fold).live?.text, "I lo");
  folded([piece("I look", true), piece("."), { live: { type: "text_streamed", ...main, execution: "t9/model", text: "no" } as Given }], fold);
  assert.equal(card(fold).live?.text, "I look.");
  folded(called.slice(0, 1), fold);
  assert.equal(card(fold).live, null);
});

test("an event that is known already changes nothing: a stream may begin again anywhere", () => {
  const events = [...asked, ...called, ...answered];
  const whole = folded(events);
  const again = folded(events);
  events.forEach((event, index) => again.apply(event as Event, index + 1, "later"));
  assert.deepEqual(again.items, whole.items);
  assert.equal(again.seq, events.length);
});

test("a queued message stands where it is answered", () => {
  const fold = folded([...asked, { type: "message_accepted", ...main, message: "m2", text: "and then?", delivery: "queued", origin: "person" }]);
  const said = fold.items.at(-1);
  assert(said?.kind === "said" && said.queued);
  folded([...called, ...answered, { type: "turn_started", ...main, turn: 3, messages: ["m2"], continues: null }], fold);
  assert.deepEqual(fold.items.map((item) => item.kind), ["said", "card", "said", "card"]);
  assert.equal(said.queued, false);
});

const started: Given = {
  type: "run_started", run: 1, pipeline: "essay", steps: ["plan", "draft"], desired: "draft", parameters: {}, session: "s",
  requires: { draft: ["plan"] }, executors: { plan: "code" }, model: "embedded", resumed: false,
} as Given;
const planned: Given[] = [
  started,
  { type: "step_started", run: 1, step: "plan", attempt: 1, cause: "first", reason: "not yet made", input_hash: "h", inputs: { source: "a" } } as Given,
  { type: "artifact_rejected", run: 1, step: "plan", attempt: 1, artifact: "plan.json", findings: [{ at: "title", message: "too short", hint: "", kind: "" }] } as Given,
  { type: "step_failed", run: 1, step: "plan", attempt: 1, kind: "rejected", message: "too short", retrying: true, ms: 4, model: null, usage: {} } as Given,
  { type: "step_started", run: 1, step: "plan", attempt: 2, cause: "retry", reason: "too short", input_hash: "h", inputs: { source: "a" } } as Given,
  { type: "artifact_accepted", run: 1, step: "plan", attempt: 2, artifact: "plan.json", hash: "x", size: 9, content: "{}" } as Given,
  { type: "step_completed", run: 1, step: "plan", attempt: 2, hash: "x", schema_version: "1", ms: 5, model: null, usage: {} } as Given,
  { type: "gate_opened", run: 1, gate: "plan-1", step: "plan", hash: "x", message: "Is this the plan?", shown: [], choices: [] } as Given,
  { type: "run_ended", run: 1, outcome: "waiting", message: "" } as Given,
];

test("a run waits at its gate with the step that asks, its findings and its first reason", () => {
  const fold = folded(planned);
  const step = fold.runs.last?.steps.get("plan");
  assert.equal(step?.state, "done");
  assert.equal(step?.reason, "not yet made");
  assert.deepEqual(step?.attempts.map((one) => [one.outcome, one.findings.length]), [["failed", 1], ["done", 0]]);
  assert.deepEqual(fold.asks.map((ask) => ask.kind), ["gate"]);
  assert.deepEqual(fold.artifacts.get("plan.json")?.map((one) => one.hash), ["x"]);
  assert.equal(fold.working, false);
});

test("a verdict is told in the words that it has everywhere", () => {
  const started = { type: "run_started", run: 1, pipeline: "p", steps: ["verify"], desired: "verify", parameters: {}, requires: {}, executors: {} } as unknown as Given;
  const words = (["passed", "failed", "not_checked"] as const).map((verdict) => {
    const given = { type: "verdict_given", run: 1, step: "verify", verdict, round: 0, most: 2, claims: {} } as unknown as Given;
    return folded([started, given]).runs.last?.steps.get("verify")?.verdict;
  });
  assert.deepEqual(words, ["passed", "failed", "not checked"]);
});

test("a run that is taken up again is the same card", () => {
  const fold = folded([
    ...planned,
    { type: "gate_resolved", run: 1, gate: "plan-1", choice: "proceed", does: "proceed", hash: "x", text: "", by: "person" } as Given,
    { ...started, resumed: true } as Given,
    { type: "step_skipped", run: 1, step: "plan", reason: "up to date" } as Given,
  ]);
  assert.deepEqual(fold.items.map((item) => item.kind), ["run"]);
  assert.equal(fold.runs.last?.steps.get("plan")?.state, "done");
  assert.deepEqual(fold.asks, []);
  assert.equal(fold.working, true);
});

test("words that are not for the run are said once", () => {
  const fold = folded([
    ...planned,
    { type: "words_said", run: 1, words: "w1", text: "what is a river?", gate: "", to: "session" } as Given,
    { type: "words_understood", run: 1, words: "w1", meaning: "not for it", reason: "", gate: "", choice: "", text: "", model: "" } as Given,
    { type: "message_accepted", ...main, message: "m1", text: "what is a river?", delivery: "started", origin: "person" },
  ]);
  assert.equal(fold.items.filter((item) => item.kind === "said").length, 1);
});

test("what was fetched later changes nothing: the fold of the end and of what was before it is the fold of all", () => {
  const events: Given[] = [
    ...asked, ...called, ...answered,
    { type: "plan_submitted", ...main, plan: "p1", text: "first this", steps: [] },
    { type: "plan_decided", ...main, plan: "p1", decision: "accepted" },
    { type: "process_started", ...main, process: "bg1", command: "sleep 9" },
    ...asked.map((one) => ({ ...one, ...("message" in one ? { message: "m2" } : {}), ...("turn" in one ? { turn: 3, messages: ["m2"], execution: "t3/model" } : {}) }) as Given),
  ];
  const whole = folded(events);
  for (let cut = 1; cut <= events.length - asked.length; cut++) {
    const end = new SessionFold();
    for (const one of whole.log.slice(cut)) end.apply(one.event, one.seq, one.at);
    end.apply({ type: "text_streamed", ...main, execution: "t3/model", text: "On" } as Event, null);
    const all = end.withEarlier(whole.log.slice(0, cut));
    const live = card(all).live;
    assert.equal(live?.text, "On");
    if (live) live.text = "";
    const shown = (fold: SessionFold) => JSON.stringify(fold.items, (key, value: unknown) => (key === "rev" ? 0 : value));
    assert.equal(shown(all), shown(whole));
    assert.deepEqual([all.seq, all.log.length, [...all.processes.keys()]], [whole.seq, whole.log.length, ["bg1"]]);
  }
});

test("going back marks what it takes back, and no more", () => {
  const second = asked.map((one) => ({ ...one, ...("message" in one ? { message: "m2" } : {}), ...("turn" in one ? { turn: 3, messages: ["m2"] } : {}) }) as Given);
  const fold = folded([...asked, ...called, ...answered, ...second, { type: "conversation_rewound", ...main, turn: 3, message: "m2", files: {} }]);
  assert.deepEqual(fold.items.map((item) => ("undone" in item ? item.undone : item.kind)), [false, false, true, true, "note"]);
});

test("a plan waits until it is decided, a process until it ends", () => {
  const fold = folded([{ type: "plan_submitted", ...main, plan: "p1", text: "x", steps: [] }, { type: "process_started", ...main, process: "bg1", command: "make" }]);
  assert.deepEqual(fold.asks.map((ask) => ask.kind), ["plan"]);
  assert.equal(fold.processes.size, 1);
  folded([{ type: "plan_decided", ...main, plan: "p1", decision: "dropped" }, { type: "process_ended", ...main, process: "bg1", reason: "exit 0" }], fold);
  assert.deepEqual(fold.asks, []);
  assert.equal(fold.processes.size, 0);
});

test("a step that waits for its time, its items, and a gate that reminds", () => {
  const fold = folded([
    { type: "run_started", run: 1, pipeline: "p", steps: ["a"], desired: "a", parameters: {}, requires: {}, executors: {}, resumed: false } as Given,
    { type: "wait_started", run: 1, step: "a", until: "2026-01-01T10:00:00Z", input_hash: "h" } as Given,
    { type: "gate_opened", run: 1, gate: "g", step: "a", hash: "h", message: "", shown: [], choices: [], form: [], due: "2026-01-02T00:00:00Z", then: "remind" } as Given,
    { type: "gate_reminded", run: 1, gate: "g", due: "2026-01-03T00:00:00Z" } as Given,
  ]);
  const step = fold.runs.last?.steps.get("a");
  assert.deepEqual([step?.until, step?.gates[0]?.due, step?.gates[0]?.reminded], ["2026-01-01T10:00:00Z", "2026-01-03T00:00:00Z", 1]);
  folded([
    { type: "step_started", run: 1, step: "a", attempt: 1, cause: "first", reason: "new", inputs: {} } as Given,
    { type: "item_settled", run: 1, step: "a", attempt: 1, item: "x", ok: false, retrying: true, message: "bad" } as Given,
    { type: "item_settled", run: 1, step: "a", attempt: 1, item: "x", ok: true, retrying: false, message: "" } as Given,
  ], fold);
  assert.deepEqual([step?.until, step?.items.size, step?.items.get("x")?.ok], ["", 1, true]);
});
