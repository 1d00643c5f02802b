import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "happy-dom";
import { render } from "preact";
import type { Gate } from "../store/run";
import { GateAsk } from "./GateAsk";

const gate = {
  opened: {
    gate: "plan-1", step: "plan", message: "Is this the plan?", shown: [{ label: "Parts", value: ["beginning", "end"] }],
    choices: [{ id: "go", label: "Go on", does: "proceed" }, { id: "change", label: "Change it", does: "amend" }, { id: "stop", label: "Stop here", does: "cancel" }],
    form: [{ name: "words", type: "integer", label: "How many words?", value: 300 }], assignee: "kim", then: "go",
  },
  seq: 1, at: "", due: "2026-01-02T10:00:00Z", reminded: 1, resolved: null,
} as unknown as Gate;

/** A page with the gate on it, and what is sent from there. */
function shown() {
  const window = new Window({ url: "http://localhost/" });
  const sent: { gate: string; choice: string; text: string; values: unknown }[] = [];
  Object.assign(globalThis, {
    window, document: window.document, HTMLElement: window.HTMLElement, addEventListener: () => {}, removeEventListener: () => {},
    fetch: (_: string, given: { body: string }) => {
      sent.push(JSON.parse(given.body).command);
      return Promise.resolve(Response.json({ seq: 2, note: "" }));
    },
  });
  const root = window.document.body as unknown as HTMLElement;
  render(<GateAsk base="/api/w/desk" session="s" gate={gate} />, root);
  const button = (label: string): HTMLElement => {
    const found = [...root.querySelectorAll("button")].find((one) => one.textContent?.includes(label));
    assert(found, label);
    return found;
  };
  return { root, sent, button, settle: () => new Promise((done) => setTimeout(done, 20)) };
}

test("what it asks about is shown, and a choice is sent once", async () => {
  const { root, sent, button, settle } = shown();
  assert.match(root.textContent ?? "", /beginning/);
  button("Go on").click();
  await settle();
  assert.deepEqual(sent.map((one) => [one.gate, one.choice]), [["plan-1", "go"]]);
});

test("what ends the run is asked back, and sent only when it is said again", async () => {
  const { root, sent, button, settle } = shown();
  button("Stop here").click();
  await settle();
  assert.equal(sent.length, 0);
  assert.match(root.textContent ?? "", /ends the run for good/);
  button("Yes: Stop here").click();
  await settle();
  assert.deepEqual(sent.map((one) => one.choice), ["stop"]);
});

test("an amendment goes with the person's words", async () => {
  const { root, sent, button, settle } = shown();
  button("Change it").click();
  await settle();
  const field = root.querySelector("textarea");
  assert(field);
  field.value = "a middle";
  field.dispatchEvent(new (window as unknown as { Event: typeof Event }).Event("input", { bubbles: true }));
  await settle();
  button("Make it again").click();
  await settle();
  assert.deepEqual(sent.map((one) => [one.choice, one.text]), [["change", "a middle"]]);
});

test("what its form asks for goes with the choice, and whose reply is awaited is said", async () => {
  const { root, sent, button, settle } = shown();
  assert.match(root.textContent ?? "", /asked of kim · until .*; then “Go on” is chosen · reminded once/);
  const field = root.querySelector("input");
  assert.equal(field?.placeholder, "300");
  assert(field);
  field.value = "500";
  field.dispatchEvent(new (window as unknown as { Event: typeof Event }).Event("input", { bubbles: true }));
  await settle();
  button("Go on").click();
  await settle();
  assert.deepEqual(sent.map((one) => [one.choice, one.values]), [["go", { words: 500 }]]);
});

test("words that were typed are still there when the gate is asked anew, and not when they were sent", async () => {
  const { root, button, settle } = shown();
  const ask = async (name: string): Promise<HTMLTextAreaElement | null> => {
    const again = { ...gate, opened: { ...gate.opened, gate: name } } as Gate;
    render(<GateAsk key={name} base="/api/w/desk" session="s" gate={again} />, root);
    await settle();
    return root.querySelector("textarea");
  };
  const type = async (field: HTMLTextAreaElement | null, text: string): Promise<void> => {
    assert(field);
    field.value = text;
    field.dispatchEvent(new (window as unknown as { Event: typeof Event }).Event("input", { bubbles: true }));
    await settle();
  };
  button("Change it").click();
  await settle();
  assert.doesNotMatch(root.textContent ?? "", /made again while you wrote/);
  await type(root.querySelector("textarea"), "shorter, and in ver");
  const field = await ask("plan-2");
  assert.equal(field?.value, "shorter, and in ver");
  assert.match(root.textContent ?? "", /made again while you wrote/);
  await type(field, "shorter, and in verse");
  button("Make it again").click();
  await settle();
  assert.equal(await ask("plan-3"), null);
});
