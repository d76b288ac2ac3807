// Threads and questions: what is shown, and what is on its way.
import { button, byId, call, el, lines, say, setAnswer } from "./dom.js";
import { answered } from "./reply.js";
import { listThreads, remember, threads } from "./threads.js";

let thread = null;
/** Turns on their way, by thread. They go on when another thread is looked at. */
const running = new Map();

export function startChat() {
  const question = byId("question");
  byId("ask").addEventListener("submit", (event) => { event.preventDefault(); ask(question.value); });
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      byId("ask").requestSubmit();
    }
  });
  question.addEventListener("input", fit);
  byId("stop").addEventListener("click", () => running.get(thread)?.controller.abort());
  byId("new-thread").addEventListener("click", () => {
    if (location.hash === "#/chat/") openThread("");
    else location.hash = "#/chat/";
    question.focus();
  });
}

function fit() {
  const question = byId("question");
  question.style.height = "auto";
  question.style.height = `${Math.min(question.scrollHeight + 2, innerHeight * 0.4)}px`;
}

/** Show a thread; without an id the one shown last, else the newest; with an empty one a new one. */
export async function openThread(id) {
  const wanted = id ?? thread ?? threads()[0]?.id ?? "";
  if (wanted && wanted === thread) return;
  const shown = thread = wanted || crypto.randomUUID();
  listThreads(thread);
  byId("messages").setAttribute("aria-live", "off"); // what is old is not read out
  byId("messages").replaceChildren();
  state();
  if (!wanted) { welcome(); return; }
  byId("welcome").hidden = true;
  try {
    const messages = await loaded(shown);
    if (shown !== thread) return;
    if (!messages.length && !running.has(shown)) { welcome(); return; }
    byId("messages").replaceChildren(...messages);
    if (running.has(shown)) byId("messages").append(running.get(shown).card);
    toEnd();
  } catch (error) {
    if (shown === thread) say("status", error.message, { error: true });
  }
}

async function loaded(id) {
  const wasRunning = running.has(id);
  const { messages } = await call(`/api/threads/${id}`);
  if (wasRunning && !running.has(id)) return loaded(id); // it ended meanwhile, maybe after this was read
  return messages.flatMap((message, index) => {
    if (message.role !== "person") return [answered(message.reply, ask)];
    const last = index === messages.length - 1;
    const open = last ? !running.has(id) : messages[index + 1].role === "person";
    return open ? [asked(message.text), stopped(message.text)] : [asked(message.text)];
  });
}

async function welcome() {
  byId("welcome").hidden = false;
  const { suggestions } = await call("/api/suggestions").catch(() => ({ suggestions: [] }));
  byId("welcome-text").textContent = suggestions.length
    ? "Every answer names its sources. Click a mark to see the passage it stands in."
    : "There is nothing to answer from yet.";
  byId("suggestions").replaceChildren(...(suggestions.length
    ? suggestions.map((text) => el("li", {}, button(text, () => ask(text))))
    : [el("li", {}, el("a", { class: "button", href: "#/documents" }, "Add documents"))]));
}

async function ask(text) {
  const id = thread;
  if (!text.trim() || running.has(id)) return;
  const question = byId("question");
  if (question.value === text) question.value = "";
  fit();
  byId("welcome").hidden = true;
  remember(id, text.trim().replace(/\s+/g, " ").slice(0, 80));
  listThreads(id);
  history.replaceState(null, "", `#/chat/${id}`);
  const messages = byId("messages");
  messages.setAttribute("aria-live", "polite");
  const turn = { controller: new AbortController(), status: "Working", card: arriving() };
  running.set(id, turn);
  messages.append(asked(text), turn.card);
  state();
  toEnd();
  let end = null;
  try {
    end = await answer(id, turn, text);
  } catch (error) {
    end = stopped(text, error.name === "AbortError" ? null : error.message, turn.card);
  }
  running.delete(id);
  const following = atEnd();
  turn.card.replaceWith(end);
  if (id !== thread) return;
  state();
  if (following) show(end);
  if ([document.body, byId("stop"), question].includes(document.activeElement)) question.focus({ preventScroll: true });
}

/** The reply's card. Text that is on its way is shown in the turn's own. */
async function answer(id, turn, text) {
  const json = { id: crypto.randomUUID(), text };
  let end = null;
  for await (const event of lines(`/api/threads/${id}/turns`, { json, signal: turn.controller.signal })) {
    if (event.type === "working") turn.status = event.text;
    else if (event.type === "text") {
      const following = atEnd();
      turn.card.hidden = false;
      setAnswer(turn.card.firstElementChild, event.html);
      if (following && id === thread) toEnd();
    } else end = answered(event.reply, ask);
    if (id === thread) state();
  }
  if (!end) throw new Error("The connection broke off before the answer was complete.");
  return end;
}

/** The buttons and the status line, as the shown thread has it. */
function state() {
  const turn = running.get(thread);
  byId("send").hidden = Boolean(turn);
  byId("stop").hidden = !turn;
  say("status", turn ? `${turn.status} …` : "", { busy: Boolean(turn) });
}

const atEnd = () => innerHeight + scrollY > document.documentElement.scrollHeight - 150;
const toEnd = () => scrollTo(0, document.documentElement.scrollHeight);
/** All of a card if it fits, else its beginning. */
function show(card) {
  if (card.offsetHeight < innerHeight * 0.6) toEnd();
  else card.scrollIntoView({ block: "start" });
}

const asked = (text) => el("div", { class: "question", dir: "auto" }, el("span", { class: "hidden" }, "You: "), text);
const arriving = () => el("article", { class: "answer", "aria-busy": "true", "aria-live": "off", hidden: true }, el("div", { class: "text" }));

/** In place of an answer that never came: why, what had come of it, and a way to ask again. */
function stopped(question, problem = null, card = null) {
  const part = card?.hidden === false ? card.firstElementChild : null;
  const why = problem ?? (part ? "Stopped here." : "Stopped before there was an answer.");
  return el("article", { class: `answer ${problem ? "apology" : "stopped"}`, "aria-label": "No answer" }, part,
    el("p", { class: problem ? "error" : "note", role: problem ? "alert" : null }, why),
    el("div", { class: "acts" }, button("Ask again", () => ask(question), { class: "plain" })));
}
