import type { Problem } from "../api/client";

/** What went wrong, where, and what to do. */
export function Trouble({ problem }: { problem: Problem }) {
  return (
    <div class="trouble" role="alert">
      <p><span aria-hidden="true">✗ </span>{problem.what}</p>
      {problem.hint && <p class="soft">{problem.hint}</p>}
    </div>
  );
}
