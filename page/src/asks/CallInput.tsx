/** What a call is given, by its kind: a command line, a change of a file, or its fields. */
import { Formatted } from "../parts/Formatted";
import type { Call } from "../store/conversations";

export function CallInput({ call }: { call: Call }) {
  const { input } = call;
  if (typeof input.command === "string") return <pre class="terminal" tabIndex={0}>{input.command}</pre>;
  const { path, old: before } = input;
  const after = input.new ?? input.content;
  if (typeof path === "string" && typeof after === "string")
    return (
      <>
        <p class="path"><code>{path}</code></p>
        <Formatted kind="code" language="diff" text={marked(typeof before === "string" ? before : "", after)} />
      </>
    );
  return <Formatted kind="code" language="json" text={JSON.stringify(input, null, 2)} />;
}

function marked(before: string, after: string): string {
  const lines = (text: string, sign: string) => (text ? text.replace(/\n$/, "").split("\n").map((line) => sign + line) : []);
  return [...lines(before, "-"), ...lines(after, "+")].join("\n");
}
