/** A PDF as pictures of its pages, one at a time. What reads it runs in a frame of its own. */
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { PagePicture, PageWish } from "../frames/draws-pages";
import { WorkFrame } from "../frames/WorkFrame";

/** Where the frame is; the build has its name. */
declare const PDF_PAGES: string;
const frame = new WorkFrame<PageWish, PagePicture>(PDF_PAGES, "draws pages of PDFs");
const sent = new Set<string>();
const WIDTH = 1100;

async function drawn(address: string, page: number): Promise<{ pages: number; picture: string }> {
  const wish = { name: address, page, width: WIDTH };
  const data = sent.has(address) ? undefined : await bytes(address);
  const found = await frame.ask(data ? { ...wish, data } : wish).catch(async (error: unknown) => {
    if (data) throw error;
    return frame.ask({ ...wish, data: await bytes(address) }); // it keeps only a few
  });
  sent.add(address);
  return { pages: found.pages, picture: URL.createObjectURL(new Blob([found.png], { type: "image/png" })) };
}

async function bytes(address: string): Promise<ArrayBuffer> {
  const reply = await fetch(address, { headers: { "X-Weft": "1" } });
  if (!reply.ok) throw new Error("the file can't be fetched");
  return reply.arrayBuffer();
}

export function PdfPages({ address, first = 1, name }: { address: string; first?: number; name: string }) {
  const page = useSignal(first);
  const shown = useSignal<{ pages: number; picture: string } | null>(null);
  const wrong = useSignal("");
  useEffect(() => {
    page.value = first;
  }, [first]);
  useEffect(() => {
    let gone = false;
    drawn(address, page.value).then(
      (found) => {
        if (gone) return;
        if (shown.value) URL.revokeObjectURL(shown.value.picture);
        shown.value = found;
        wrong.value = "";
      },
      (error: unknown) => {
        if (!gone) wrong.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => {
      gone = true;
    };
  }, [address, page.value]);
  const found = shown.value;
  if (wrong.value) return <p class="warning">Its pages can't be drawn here: {wrong.value}. <a href={address} download={name}>The file itself</a></p>;
  if (!found) return <p class="soft small" role="status">drawing page {page.value}…</p>;
  return (
    <figure class="pdf">
      <div class="choices">
        <button type="button" disabled={page.value <= 1} onClick={() => (page.value -= 1)}>Page before</button>
        <button type="button" disabled={page.value >= found.pages} onClick={() => (page.value += 1)}>Next page</button>
        <span class="soft small">page {page.value} of {found.pages}</span>
      </div>
      <img src={found.picture} alt={`Page ${page.value} of ${name}`} />
    </figure>
  );
}
