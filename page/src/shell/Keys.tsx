/** What each key does, and the keys themselves. */
import { useEffect, useRef } from "preact/hooks";
import { isTyping } from "../asks/answering";
import { waiting } from "../store/desk";
import { go, to } from "./address";
import { keysOpen, paletteOpen } from "./Palette";
import { PLACES } from "./places";

const TABLE: readonly [string, string][] = [
  ["Ctrl+K", "go anywhere"],
  ["/", "search in all sessions"],
  ["n", "begin something new"],
  ["w", "to the next that waits for you"],
  ["j  k", "down and up in a list"],
  ...PLACES.map((one): [string, string] => [`g ${one.key}`, `to ${one.label}`]),
  ["1 … 9", "choose at a gate"],
  ["y  a  n  r", "approve once, for this session, deny, deny with a reason"],
  ["Esc Esc", "stop what runs"],
  ["Enter", "send; with Shift a new line"],
  ["?", "this list"],
];

export function Keys() {
  const box = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (keysOpen.value) box.current?.showModal();
    else box.current?.close();
  }, [keysOpen.value]);
  useEffect(() => {
    let after = "";
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        paletteOpen.value = !paletteOpen.value;
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target) || paletteOpen.value) return;
      const first = after;
      after = "";
      if (first === "g") {
        const wanted = PLACES.find((one) => one.key === event.key);
        if (wanted) go(wanted.href);
        return;
      }
      switch (event.key) {
        case "g":
          after = "g";
          return;
        case "/":
          event.preventDefault();
          go("/sessions");
          setTimeout(() => document.querySelector<HTMLInputElement>("main input[type=search]")?.focus(), 50);
          return;
        case "?":
          keysOpen.value = true;
          return;
        case "w":
          if (waiting.value[0]) go(to("s", waiting.value[0].id));
          return;
        case "j":
        case "k": {
          const rows = [...document.querySelectorAll<HTMLAnchorElement>("main a.row")];
          const here = rows.indexOf(document.activeElement as HTMLAnchorElement);
          rows[Math.max(0, Math.min(rows.length - 1, here + (event.key === "j" ? 1 : -1)))]?.focus();
          return;
        }
        case "n":
          if (!document.querySelector(".ask")) go("/new");
      }
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  return (
    <dialog ref={box} class="keys" aria-label="Keys" onClose={() => (keysOpen.value = false)}>
      <h2>Keys</h2>
      <table>
        <tbody>{TABLE.map(([key, does]) => <tr key={key}><th scope="row">{key}</th><td>{does}</td></tr>)}</tbody>
      </table>
      <form method="dialog"><button autofocus>Close</button></form>
    </dialog>
  );
}
