import type { OpenSession } from "../store/open";

/** Where the API has something of a session. */
export function at(open: OpenSession, ...parts: string[]): string {
  return [`${open.base}/sessions`, open.id, ...parts].map((part, index) => (index ? encodeURIComponent(part) : part)).join("/");
}
