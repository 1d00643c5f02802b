/** Three ways in, each of which works with no key: a document, a talk, a question to many documents. */
import { Begin } from "./New";

export function Doors() {
  return (
    <>
      <h1>What shall it be?</h1>
      <p class="standfirst">Give a document and get a checked kit in seconds, or just talk. Nothing leaves this machine unless you connect a model.</p>
      <Begin bare />
      <p class="door"><a class="button" href="/knowledge">Ask my documents</a> <span class="soft">Put many into a collection: each sentence of an answer leads to its passage.</span></p>
    </>
  );
}
