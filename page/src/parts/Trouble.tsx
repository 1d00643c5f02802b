import type { Problem } from "../api/client";
import { InlineCode } from "./InlineCode";

/** What went wrong, where, and what to do; nothing where nothing did. */
export function Trouble({ problem }: { problem: Problem | null }) {
  if (!problem) return null;
  return (
    <div class="trouble" role="alert">
      <p><span aria-hidden="true">✗ </span><InlineCode text={problem.what} /></p>
      {problem.hint && <p class="soft"><InlineCode text={problem.hint} /></p>}
    </div>
  );
}
