import assert from "node:assert/strict";
import { test } from "node:test";
import { csvRows } from "./csv";
import { compared } from "./SortTable";

test("rows are read with quotes, and whatever separates them", () => {
  assert.deepEqual(csvRows('a,b\r\n"x, ""y""",2\n"two\nlines",3'), [["a", "b"], ['x, "y"', "2"], ["two\nlines", "3"]]);
  assert.deepEqual(csvRows("a;b\n1;2\n"), [["a", "b"], ["1", "2"]]);
  assert.deepEqual(csvRows(""), []);
});

test("numbers are sorted by size, words as people do", () => {
  assert.deepEqual(["10 m", "9 m", "1,000 m"].toSorted(compared), ["9 m", "10 m", "1,000 m"]);
  assert.deepEqual(["step 10", "step 9", "Step 1"].toSorted(compared), ["Step 1", "step 9", "step 10"]);
  assert.deepEqual(["$2.50", "$0.40", "$10"].toSorted(compared), ["$0.40", "$2.50", "$10"]);
});
