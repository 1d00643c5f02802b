import type { Problem } from "../api/client";
import { Trouble } from "./Trouble";

/** A place that can't be shown: why, and the way to where it would be. */
export function NotHere({ title, problem, href, back }: { title: string; problem: Problem; href: string; back: string }) {
  return (
    <div class="page">
      <p class="crumb"><a href={href}>{back}</a></p>
      <h1 dir="auto">{title}</h1>
      <Trouble problem={problem} />
    </div>
  );
}
