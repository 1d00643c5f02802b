import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "happy-dom";
import { render } from "preact";
import { Problem } from "../api/client";
import { Trouble } from "./Trouble";

function shown(hint: string): string {
  const window = new Window({ url: "http://localhost/" });
  Object.assign(globalThis, { window, document: window.document });
  const root = window.document.createElement("div") as unknown as HTMLElement;
  render(<Trouble problem={new Problem(400, "the key is wrong", "", hint)} />, root);
  return root.querySelector(".soft")?.innerHTML ?? "";
}

test("a command in a hint is shown as what is typed", () => {
  assert.equal(shown("check it with `weft models test`, or add one"), "check it with <code>weft models test</code>, or add one");
});

test("a backtick that stands alone, and mark-up, are words", () => {
  assert.equal(shown("a ` <b>alone</b>"), "a ` &lt;b&gt;alone&lt;/b&gt;");
});
