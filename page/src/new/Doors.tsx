/** Three ways in, each of which works with no key: a document, a question, a talk. */
import { New } from "./New";

export function Doors() {
  return (
    <>
      <h1>What shall it be?</h1>
      <p class="standfirst">Give a document and get a checked kit in seconds, or just talk. Nothing leaves this machine unless you connect a model.</p>
      <New bare />
    </>
  );
}
