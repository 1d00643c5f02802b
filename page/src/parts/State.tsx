import { stateOf } from "./words";

export function State({ state, of, bare = false }: { state: string; of: "session" | "step"; bare?: boolean }) {
  const { sign, word, look } = stateOf(state, of);
  return (
    <span class={`state ${look}`}>
      <span class="sign" aria-hidden="true">{sign}</span>
      <span class={bare ? "unseen" : ""}>{word}</span>
    </span>
  );
}
