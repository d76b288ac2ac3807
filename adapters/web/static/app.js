// Which view is shown, from the address.
import { byId } from "./dom.js";
import { openThread, startChat } from "./chat.js";
import { loadDocuments, startDocuments } from "./documents.js";
import { loadSettings, startTools } from "./tools.js";

const opened = { documents: loadDocuments, settings: loadSettings };
const titles = { chat: "Chat", documents: "Documents", search: "Search test", settings: "Settings" };

function route(event) {
  const hash = location.hash || "#/chat";
  if (!hash.startsWith("#/")) return; // a mark leading to its source
  const [name, thread] = hash.slice(2).split("/");
  const view = name in titles ? name : "chat";
  for (const section of document.querySelectorAll(".view")) section.hidden = section.id !== `view-${view}`;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.dataset.view === view) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = `${titles[view]} · Footnote`;
  if (view === "chat") openThread(thread);
  else opened[view]?.();
  if (event && view !== "chat") byId("main").focus();
}

startChat();
startDocuments();
startTools();
addEventListener("hashchange", route);
route();
