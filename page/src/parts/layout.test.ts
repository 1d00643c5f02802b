import assert from "node:assert/strict";
import { test } from "node:test";
import { layout } from "./layout";

const step = (name: string, ...requires: string[]) => ({ name, requires });

test("a step stands behind everything it is made from, and says nothing twice", () => {
  const drawn = layout([step("plan"), step("draft", "plan"), step("notes", "plan"), step("report", "plan", "draft", "notes")]);
  assert.deepEqual(drawn.spots.map((spot) => [spot.step.name, spot.column, spot.row]), [["plan", 0, 0], ["draft", 1, 0], ["notes", 1, 1], ["report", 2, 0]]);
  assert.deepEqual(drawn.edges.map(([from, into]) => `${from.step.name} ${into.step.name}`), ["plan draft", "plan notes", "draft report", "notes report"]);
});

test("steps that require each other in a circle are drawn all the same", () => {
  assert.equal(layout([step("a", "b"), step("b", "a")]).spots.length, 2);
});
