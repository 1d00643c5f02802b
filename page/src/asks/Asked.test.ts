import assert from "node:assert/strict";
import { test } from "node:test";
import { Window } from "happy-dom";
import type { Call } from "../store/conversations";

test("what was written and pressed for one call is not taken for another that a model calls the same", async () => {
  const window = new Window({ url: "http://localhost/" });
  const { document, localStorage, location, sessionStorage, matchMedia } = window;
  Object.assign(globalThis, { window, document, localStorage, location, sessionStorage, matchMedia, addEventListener: () => {} });
  const { askKey } = await import("./Asked");
  const call = { conversation: "main", call: "call_1", turn: 1 } as Call;
  assert.notEqual(askKey({ kind: "approval", call }), askKey({ kind: "approval", call: { ...call, turn: 2 } }));
});
