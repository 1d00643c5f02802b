import assert from "node:assert/strict";
import { test } from "node:test";
import type { WordsUnderstood } from "../api/made";
import { understoodWords } from "./understood";

test("words that were refused are told with what is in the way, also where no choice was meant", () => {
  const said = { meaning: "refused", choice: "", reason: "the run has ended", text: "begin it anew" } as WordsUnderstood;
  assert.equal(understoodWords(said), "the run has ended; begin it anew");
  assert.equal(understoodWords({ ...said, choice: "go" }), "go, but it can't be done: the run has ended; begin it anew");
});
