/** What a model means to do, as it last wrote it. */
const SIGNS: Readonly<Record<string, readonly [string, string, string]>> = {
  "[x]": ["✓", "done", "good"], "[>]": ["▸", "now", "busy"], "[ ]": ["·", "to do", ""],
};

export function TodoList({ text }: { text: string }) {
  const lines = text.split("\n").filter((line) => SIGNS[line.slice(0, 3)]);
  if (!lines.length) return null;
  const done = lines.filter((line) => line.startsWith("[x]")).length;
  return (
    <section class="todo" aria-label="To do">
      <p class="label">To do <span class="soft">{done} of {lines.length}</span></p>
      <ul>
        {lines.map((line, index) => {
          const [sign, word, look] = SIGNS[line.slice(0, 3)] ?? ["", "", ""];
          return (
            <li key={index} class={look} dir="auto">
              <span class="sign" aria-hidden="true">{sign}</span><span class="unseen">{word}: </span>{line.slice(3).trim()}
            </li>
          );
        })}
      </ul>
    </section>
  );
}
