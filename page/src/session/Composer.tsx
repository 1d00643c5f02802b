/** Where a person speaks: to the run that waits, to the conversation, or into the queue while it works. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { command } from "../api/client";
import { Formatted } from "../parts/Formatted";
import { Trouble } from "../parts/Trouble";
import { useDoing } from "../parts/useDoing";
import { humanSize } from "../parts/words";
import type { GivenFileCommand } from "../api/made";
import type { OpenSession } from "../store/open";

const TWICE_MS = 1500;

export function Composer({ open, quote }: { open: OpenSession; quote: { value: string } }) {
  open.shown.value;
  const kept = `weft.draft.${open.id}`;
  const text = useSignal(sessionStorage.getItem(kept) ?? "");
  const { busy: sending, problem, act } = useDoing();
  const interrupting = useDoing();
  const stopping = useSignal<"" | "once" | "now">("");
  const looked = useSignal("");
  const field = useRef<HTMLTextAreaElement>(null);
  const files = useSignal<readonly File[]>([]);
  const { fold } = open;
  const working = open.working;

  useEffect(() => {
    const area = field.current;
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight, 260)}px`;
    sessionStorage.setItem(kept, text.value);
  }, [text.value]);
  useEffect(() => {
    if (!quote.value) return;
    text.value = `${quote.value.split("\n").map((line) => `> ${line}`).join("\n")}\n\n${text.value}`;
    quote.value = "";
    field.current?.focus();
  }, [quote.value]);
  useEffect(() => {
    if (!working) stopping.value = "";
  }, [working]);
  const link = open.stream.link.value;
  useEffect(() => {
    if (link === "live" && problem.value?.status === 0) problem.value = null; // it could not be reached, and can be again
  }, [link]);

  const send = (event: Event): void => {
    event.preventDefault();
    const said = text.value.trim();
    if ((!said && !files.value.length) || sending.value) return;
    void act(async () => {
      const attachments = await Promise.all(files.value.map(given));
      const words = said || `Look at ${files.value.map((file) => file.name).join(", ")}.`;
      const reply = await command(open.base, open.id, { type: "say", text: words, attachments });
      looked.value = said.startsWith("/") ? reply.note : "";
      text.value = "";
      files.value = [];
    });
  };
  const stop = async (): Promise<void> => {
    stopping.value = "now";
    if (!(await interrupting.act(() => command(open.base, open.id, { type: "interrupt" })))) stopping.value = "";
  };
  useEffect(() => {
    let last = 0;
    const press = (event: KeyboardEvent): void => {
      if (event.key !== "Escape" || event.defaultPrevented || !open.working) return;
      if (event.timeStamp - last < TWICE_MS) void stop();
      else {
        stopping.value = "once";
        setTimeout(() => {
          if (stopping.value === "once") stopping.value = "";
        }, TWICE_MS);
      }
      last = event.timeStamp;
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, [open]);

  const asks = fold.asks.some((ask) => ask.kind === "gate");
  const wrong = problem.value ?? interrupting.problem.value;
  const hint = working ? "Say more, for the next turn" : asks ? "Answer, or ask something else" : "Say something";
  return (
    <form
      class="composer"
      onSubmit={send}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        event.preventDefault();
        files.value = [...files.value, ...(event.dataTransfer?.files ?? [])];
      }}
    >
      <Trouble problem={wrong} />
      {looked.value && <Formatted kind="markdown" text={looked.value} />}
      {files.value.length > 0 && (
        <ul class="attached" aria-label="Goes with it">
          {files.value.map((file, index) => (
            <li key={index}>
              <span class="file">{file.name} · {humanSize(file.size)}</span>
              <button type="button" class="plain" aria-label={`Without ${file.name}`} onClick={() => (files.value = files.value.filter((one) => one !== file))}>✕</button>
            </li>
          ))}
        </ul>
      )}
      <div class="speak">
        <label class="attach" title="Attach files">
          <span aria-hidden="true">+</span><span class="unseen">Attach files</span>
          <input
            type="file"
            multiple
            onChange={(event) => {
              files.value = [...files.value, ...(event.currentTarget.files ?? [])];
              event.currentTarget.value = "";
              field.current?.focus();
            }}
          />
        </label>
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          aria-label={hint}
          placeholder={hint}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onPaste={(event) => {
            const pasted = [...(event.clipboardData?.files ?? [])];
            if (!pasted.length) return;
            event.preventDefault();
            files.value = [...files.value, ...pasted];
          }}
          onKeyDown={(event) => {
            if (event.key === "Enter" && !event.shiftKey && !event.isComposing) send(event);
          }}
        />
        {working && (
          <button type="button" class="stop" disabled={stopping.value === "now"} onClick={() => void stop()}>
            {stopping.value === "now" ? "Stopping…" : "Stop"}
          </button>
        )}
        <button class="primary" disabled={(!text.value.trim() && !files.value.length) || sending.value}>{working ? "Queue" : "Send"}</button>
      </div>
      <p class="soft small" role="status">
        {stopping.value === "once" ? "Esc once more stops it" : ""}
      </p>
    </form>
  );
}

/** A file as the protocol has it. */
async function given(file: File): Promise<GivenFileCommand> {
  const address = await new Promise<string>((done, failed) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = () => failed(reader.error ?? new Error(`${file.name} can't be read`));
    reader.readAsDataURL(file);
  });
  return { data: address.slice(address.indexOf(",") + 1), origin: file.name };
}
