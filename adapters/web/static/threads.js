// The threads that this browser has seen; their messages are the server's.
import { byId, el } from "./dom.js";
import { closeDialog, showDialog } from "./dialog.js";

const STORE = "footnote-threads";
const MOST = 50;

export function threads() {
  try {
    const kept = JSON.parse(localStorage.getItem(STORE) ?? "[]");
    return kept.filter((entry) => typeof entry?.id === "string" && typeof entry.title === "string");
  } catch {
    return [];
  }
}

/** Put a thread first. It keeps the title that it was begun with. */
export function remember(id, title) {
  const known = threads();
  const entry = known.find((one) => one.id === id) ?? { id, title };
  const rest = known.filter((one) => one.id !== id);
  try {
    localStorage.setItem(STORE, JSON.stringify([entry, ...rest].slice(0, MOST)));
  } catch { /* no room or not allowed: the thread is still open */ }
}

const link = ({ id, title }, current) =>
  el("li", {}, el("a", { href: `#/chat/${id}`, "aria-current": id === current ? "page" : null, title, dir: "auto" }, title));

export function listThreads(current) {
  byId("threads").replaceChildren(...threads().map((entry) => link(entry, current)));
  byId("show-threads").onclick = () => {
    const list = el("ul", { class: "threads-list", click: (event) => { if (event.target.closest("a")) closeDialog(); } },
      ...threads().map((entry) => link(entry, current)));
    showDialog("Threads", threads().length ? list : el("p", { class: "dim" }, "No threads yet."));
  };
}
