/** Where the page begins: sign-in state, addresses, and the place that the address names. */
import { render } from "preact";
import { Inbox } from "./inbox/Inbox";
import { New } from "./new/New";
import { Session } from "./session/Session";
import { Sessions } from "./sessions/Sessions";
import { listen, place } from "./shell/address";
import { Shell } from "./shell/Shell";
import { begin, workspace } from "./store/desk";

function Here() {
  if (!workspace.value) return null;
  const { name, of } = place.value;
  switch (name) {
    case "inbox":
      return <Inbox />;
    case "new":
      return <New />;
    case "session":
      return <Session key={of} id={of} />;
    case "sessions":
      return <Sessions />;
    default:
      return <div class="page"><h1>There is nothing here</h1><p><a href="/">To the inbox</a></p></div>;
  }
}

function Page() {
  return <Shell><Here /></Shell>;
}

listen();
void begin();
const root = document.getElementById("page");
if (root) render(<Page />, root);
