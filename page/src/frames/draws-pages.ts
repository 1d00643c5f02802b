/** In a frame of its own, with pdf.js: pages of a PDF to pictures. */
import { getDocument, type PDFDocumentProxy } from "pdfjs-dist";
import * as worker from "pdfjs-dist/build/pdf.worker.mjs";
import { serve } from "./serve";

export interface PageWish {
  /** The file; once, as it is remembered by its name. */
  readonly name: string;
  readonly data?: ArrayBuffer;
  readonly page: number;
  /** Of the picture, in pixels. */
  readonly width: number;
}
export interface PagePicture {
  readonly pages: number;
  readonly png: ArrayBuffer;
}

(globalThis as { pdfjsWorker?: unknown }).pdfjsWorker = worker; // in this frame: a worker of its own would have to be fetched
const MOST_KEPT = 4;
const known = new Map<string, PDFDocumentProxy>();
serve(draw, ({ png }) => [png]);

async function draw({ name, data, page, width }: PageWish): Promise<PagePicture> {
  const file = known.get(name) ?? (await read(name, data));
  const shown = await file.getPage(Math.min(Math.max(1, page), file.numPages));
  const whole = shown.getViewport({ scale: 1 });
  const viewport = shown.getViewport({ scale: width / whole.width });
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(viewport.width);
  canvas.height = Math.ceil(viewport.height);
  await shown.render({ canvas, viewport, intent: "print" }).promise; // to a screen it waits for frames, which nobody sees here
  shown.cleanup();
  const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, "image/png"));
  if (!blob) throw new Error("the page can't be drawn");
  return { pages: file.numPages, png: await blob.arrayBuffer() };
}

async function read(name: string, data: ArrayBuffer | undefined): Promise<PDFDocumentProxy> {
  if (!data) throw new Error("the file is not here");
  const file = await getDocument({ data, useSystemFonts: true, disableAutoFetch: true, useWorkerFetch: false }).promise;
  if (known.size >= MOST_KEPT) {
    const [first] = known.keys();
    await known.get(first ?? "")?.loadingTask.destroy();
    known.delete(first ?? "");
  }
  known.set(name, file);
  return file;
}
