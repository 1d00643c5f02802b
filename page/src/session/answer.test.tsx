import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "happy-dom";

const { window } = { window: new Window({ url: "http://127.0.0.1/s/one" }) };
for (const name of ["document", "location", "history", "localStorage", "sessionStorage", "Element", "HTMLElement", "Node", "navigator"] as const)
  Object.defineProperty(globalThis, name, { value: window[name], configurable: true });

const { render } = await import("preact");
const { AnswerView } = await import("./AnswerView");
const { answerOf, marked, unwrapped } = await import("./answer");

const sentence = (id: string, state: string, more: object = {}) => ({ id, text: `Sentence ${id}.`, lead: "", labels: ["1"], state, reason: "", ...more });
const ANSWER = {
  original_query: "Why?", nothing_found: false, level: "high", collection: { name: "sea", title: "The sea" }, sources: [],
  sections: [{ id: "a", heading: "", sentences: [
    sentence("s1", "quoted"), sentence("s2", "judged", { judged_by: "work/m" }), sentence("s3", "contradicted"), sentence("s4", "not_checked", { labels: [] }),
  ] }],
};

test("the four verdicts are told apart by words, and each leads to its evidence", () => {
  const root = window.document.createElement("div");
  const answer = answerOf(ANSWER);
  assert.ok(answer);
  render(<AnswerView answer={answer} session="one" artifact="answer.json" />, root as unknown as Element);
  const marks = [...root.querySelectorAll("a.claim")];
  assert.deepEqual(marks.map((one) => one.textContent), ["❝quoted, source 1", "◆judgedsource 1", "✗contradictedsource 1", "?not checked"]);
  assert.equal(marks[1]?.getAttribute("title"), "judged by work/m");
  assert.equal(marks[2]?.getAttribute("href"), "/s/one/claim/s3?in=answer.json");
  assert.match(root.querySelector(".legend")?.textContent ?? "", /4 sentences: .*1 judged by work\/m/);
});

test("how sure it is stands below, and passages that come near can be read there", () => {
  const root = window.document.createElement("div");
  const near = { label: "3", kind: "passage", id: "p3", ref: "sea#tides", title: "The sea", text: "Long before. Tides rise.", file: "sea.md" };
  const answer = answerOf({ ...ANSWER, level: "medium", confidence: 0.66, nearest: [{ ...near, glimpse: "… Tides rise." }, { ...near, label: "4" }] });
  assert.ok(answer);
  render(<AnswerView answer={answer} session="one" artifact="answer.json" />, root as unknown as Element);
  assert.match(root.querySelector(".legend")?.textContent ?? "", /confidence that this answers: medium \(66 %\)$/);
  assert.deepEqual([...root.querySelectorAll(".nearest blockquote")].map((one) => one.textContent), ["… Tides rise.", "Long before. Tides rise."]);
});

test("what is no answer is none", () => {
  assert.equal(answerOf({ sections: [] }), null);
  assert.equal(answerOf(null), null);
});

test("a quoted sentence is marked whole whatever the white space, another by its words", () => {
  assert.deepEqual(marked("The sea\nrises. The moon pulls.", "The sea rises."), ["", "The sea\nrises.", " The moon pulls."]);
  assert.deepEqual(marked("Tides of 14 metres.", "In Fundy it is 14 m."), ["Tides of ", "14", " metres."]);
});

test("lines of code stay lines, behind a sentence and in a passage", () => {
  const root = window.document.createElement("div");
  const code = "cd lamp\nmake light";
  const answer = answerOf({ ...ANSWER, sections: [{ id: "a", heading: "", sentences: [sentence("s1", "quoted", { code })] }] });
  assert.ok(answer);
  render(<AnswerView answer={answer} session="one" artifact="answer.json" />, root as unknown as Element);
  assert.equal(root.querySelector("code.lines")?.textContent, code);
  assert.equal(unwrapped("Light\nit:\n\n```sh\ncd lamp\nmake light\n```\n\nThat is\nall."), "Light it:\n\n```sh\ncd lamp\nmake light\n```\n\nThat is all.");
});
