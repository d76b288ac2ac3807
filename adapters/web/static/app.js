// Which view is shown, from the address.
import { byId } from "./dom.js";
import { openThread, startChat } from "./chat.js";
import { startDialog } from "./dialog.js";
import { loadDocuments, startDocuments } from "./documents.js";
import { startSearch } from "./search.js";
import { loadSettings, startSettings } from "./settings.js";
import { startUploads } from "./uploads.js";

const opened = { documents: loadDocuments, settings: loadSettings };
const titles = { chat: "Chat", documents: "Documents", search: "Search test", settings: "Settings" };

function route(event) {
  const hash = location.hash || "#/chat";
  if (!hash.startsWith("#/")) return; // a link within the page
  const [name, thread] = hash.slice(2).split("/");
  const view = Object.hasOwn(titles, name) ? name : "chat";
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== `view-${view}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${titles[view]} · Footnote`;
  if (view === "chat") openThread(thread);
  else opened[view]?.();
  if (!event) return;
  scrollTo(0, 0);
  const keyboard = matchMedia("(pointer: fine)").matches; // one on the screen would cover half of the page
  if (view === "chat" && keyboard) byId("question").focus();
  else byId("main").focus({ preventScroll: true });
}

startDialog();
startChat();
startDocuments();
startUploads();
startSearch();
startSettings();
addEventListener("hashchange", route);
route();
