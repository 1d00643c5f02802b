/** Where the page begins: sign-in state, addresses, and the place that the address names. */
import { render } from "preact";
import { Inbox } from "./inbox/Inbox";
import { New } from "./new/New";
import { Session } from "./session/Session";
import { Sessions } from "./sessions/Sessions";
import { listen, place } from "./shell/address";
import { Later, lazy } from "./shell/Later";
import { applyTheme } from "./shell/theme";
import { Shell } from "./shell/Shell";
import { begin, workspace } from "./store/desk";

const pipelines = lazy(() => import("./pipelines/Pipelines").then((found) => found.Pipelines));
const knowledge = lazy(() => import("./knowledge/Knowledge").then((found) => found.Knowledge));
const sources = lazy(() => import("./sources/Sources").then((found) => found.Sources));
const schedules = lazy(() => import("./schedules/Schedules").then((found) => found.Schedules));
const models = lazy(() => import("./models/Models").then((found) => found.Models));
const settings = lazy(() => import("./settings/Settings").then((found) => found.Settings));

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
    case "pipelines":
      return <Later load={pipelines} />;
    case "knowledge":
      return <Later load={knowledge} />;
    case "sources":
      return <Later load={sources} />;
    case "schedules":
      return <Later load={schedules} />;
    case "models":
      return <Later load={models} />;
    case "settings":
      return <Later load={settings} />;
    default:
      return <div class="page"><h1>There is nothing here</h1><p><a href="/">To the inbox</a></p></div>;
  }
}

function Page() {
  return <Shell><Here /></Shell>;
}

applyTheme();
listen();
void begin();
const root = document.getElementById("page");
if (root) render(<Page />, root);
