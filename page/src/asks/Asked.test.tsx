import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "happy-dom";
import { render } from "preact";
import type { Me } from "../api/made";
import type { Call } from "../store/conversations";
import type { Ask } from "../store/session";

/** A page as the stores want one before they are read, and how often something is sent from there. */
function page() {
  const window = new Window({ url: "http://localhost/" });
  const { document, localStorage, location, sessionStorage, matchMedia, HTMLElement } = window;
  const sent: string[] = [];
  const fetch = (address: string) => {
    sent.push(address);
    return Promise.resolve(Response.json({ seq: 2, note: "" }));
  };
  const quiet = () => {};
  Object.assign(globalThis, {
    window, document, localStorage, location, sessionStorage, matchMedia, HTMLElement, fetch, addEventListener: quiet, removeEventListener: quiet,
  });
  return { root: document.body as unknown as HTMLElement, sent };
}

const gate = {
  opened: { gate: "plan-1", step: "plan", message: "Is this the plan?", shown: [], choices: [{ id: "go", label: "Go on", does: "proceed" }], form: [] },
  seq: 1, at: "", due: "", reminded: 0, resolved: null,
};

async function pressedBy(role: string): Promise<{ readonly sent: number; readonly text: string }> {
  const { root, sent } = page();
  const { Asked } = await import("./Asked");
  const { me } = await import("../store/desk");
  me.value = { role } as unknown as Me;
  render(<Asked ask={{ kind: "gate", gate } as unknown as Ask} base="/api/w/desk" session="s" first />, root);
  const button = [...root.querySelectorAll("button")].find((one) => one.textContent?.includes("Go on"));
  assert(button);
  if (!button.closest("fieldset")?.disabled) button.click();
  return { sent: sent.length, text: root.textContent ?? "" };
}

test("whoever may only look is told so and offered nothing to press", async () => {
  const looked = await pressedBy("look");
  assert.equal(looked.sent, 0);
  assert.match(looked.text, /somebody who may answer/);
  const answered = await pressedBy("answer");
  assert.equal(answered.sent, 1);
  assert.doesNotMatch(answered.text, /somebody who may answer/);
});

test("what was written and pressed for one call is not taken for another that a model calls the same", async () => {
  page();
  const { askKey } = await import("./Asked");
  const call = { conversation: "main", call: "call_1", turn: 1 } as Call;
  assert.notEqual(askKey({ kind: "approval", call }), askKey({ kind: "approval", call: { ...call, turn: 2 } }));
});
