import assert from "node:assert/strict";
import { test } from "node:test";
import { Parser } from "./stream";

const TEXT = 'id: 7\nevent: gate_opened\ndata: {"seq": 7}\n\nevent: beat\ndata: {}\n\n';

test("events come out the same wherever the pieces end", () => {
  const whole = new Parser().feed(TEXT);
  assert.deepEqual(whole, [{ event: "gate_opened", id: 7, data: { seq: 7 } }, { event: "beat", id: null, data: {} }]);
  for (let cut = 0; cut <= TEXT.length; cut++) {
    const parser = new Parser();
    assert.deepEqual([...parser.feed(TEXT.slice(0, cut)), ...parser.feed(TEXT.slice(cut))], whole);
  }
});
