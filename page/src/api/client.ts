/** Requests to the server, and its errors in its own words. Nothing else in the page speaks to the network. */
import { signal } from "@preact/signals";
import type { AcceptedCommand, ApiProblem, Command } from "./made";

/** The server does not know this browser any more. What is on the page stays there. */
export const signedOut = signal(false);

export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly what: string,
    readonly where = "",
    readonly hint = "",
  ) {
    super(what);
  }
}

export function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return new Problem(0, "the server can't be reached", "", "is `weft serve` still running? The page connects again by itself; what you wrote stays");
}

async function ask<T>(method: string, path: string, body?: BodyInit, type?: string): Promise<T> {
  const headers: Record<string, string> = { "X-Weft": "1" };
  if (type) headers["Content-Type"] = type;
  const reply = await fetch(path, { method, headers, ...(body === undefined ? {} : { body }) });
  if (reply.status === 401) {
    signedOut.value = true;
    throw new Problem(401, "you are not signed in any more", "", "sign in again in another tab; what you wrote here stays");
  }
  signedOut.value = false;
  if (!reply.ok) throw await told(reply);
  return (reply.status === 204 ? undefined : await reply.json()) as T;
}

async function told(reply: Response): Promise<Problem> {
  try {
    const said = (await reply.json()) as Partial<ApiProblem>;
    return new Problem(reply.status, said.what ?? reply.statusText, said.where ?? "", said.hint ?? "");
  } catch {
    return new Problem(reply.status, reply.statusText || `the server answered ${reply.status}`);
  }
}

export const get = <T>(path: string): Promise<T> => ask<T>("GET", path);
export const post = <T>(path: string, body: unknown): Promise<T> =>
  ask<T>("POST", path, JSON.stringify(body), "application/json");
export const put = <T>(path: string, body: unknown): Promise<T> =>
  ask<T>("PUT", path, JSON.stringify(body), "application/json");
export const patch = <T>(path: string, body: unknown): Promise<T> =>
  ask<T>("PATCH", path, JSON.stringify(body), "application/json");
export const remove = <T>(path: string): Promise<T> => ask<T>("DELETE", path);
export const upload = <T>(path: string, form: FormData): Promise<T> => ask<T>("POST", path, form);

/** A command at a session's door. The key names this wish, so that a second try of the same can't do it twice. */
export function command(base: string, session: string, given: Command, key = newKey()): Promise<AcceptedCommand> {
  return post<AcceptedCommand>(`${base}/sessions/${encodeURIComponent(session)}/commands`, { command: given, key });
}

export const newKey = (): string => crypto.randomUUID();
