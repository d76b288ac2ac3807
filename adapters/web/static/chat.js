// Threads, questions, answers and their sources.
import { byId, call, el, lines, say, showDialog } from "./dom.js";

const STORE = "footnote-threads";
let thread = null;
let running = null;

const threads = () => JSON.parse(localStorage.getItem(STORE) ?? "[]");

function remember(id, title) {
  const others = threads().filter((entry) => entry.id !== id);
  const known = threads().find((entry) => entry.id === id);
  localStorage.setItem(STORE, JSON.stringify([{ id, title: known?.title ?? title }, ...others].slice(0, 30)));
  listThreads();
}

function listThreads() {
  byId("threads").replaceChildren(...threads().map(({ id, title }) =>
    el("li", {}, el("a", { href: `#/chat/${id}`, "aria-current": id === thread ? "page" : null, title }, title))));
}

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
  byId("stop").addEventListener("click", () => running?.abort());
  byId("new-thread").addEventListener("click", () => {
    location.hash = "#/chat/";
    openThread("");
    question.focus();
  });
}

function fit() {
  const question = byId("question");
  question.rows = Math.min(8, question.value.split("\n").length);
}

/** Show a thread; without an id the newest, with an empty one a new one. */
export async function openThread(id) {
  const wanted = id === undefined ? threads()[0]?.id : id || undefined;
  if (wanted && wanted === thread) return;
  running?.abort();
  thread = wanted ?? crypto.randomUUID();
  listThreads();
  const messages = byId("messages");
  messages.replaceChildren();
  say("status", "");
  welcome(!wanted);
  if (!wanted) return;
  try {
    for (const message of (await call(`/api/threads/${thread}`)).messages) {
      messages.append(message.role === "person" ? asked(message.text) : answered(message.reply));
    }
    messages.lastElementChild?.scrollIntoView({ block: "end" });
  } catch (error) {
    say("status", error.message, { error: true });
  }
}

async function welcome(visible) {
  byId("welcome").hidden = !visible;
  if (!visible) return;
  const { suggestions } = await call("/api/suggestions").catch(() => ({ suggestions: [] }));
  byId("suggestions").replaceChildren(...suggestions.map((text) =>
    el("li", {}, el("button", { type: "button", click: () => ask(text) }, text))));
}

async function ask(text) {
  if (!text.trim() || running) return;
  const question = byId("question");
  question.value = "";
  fit();
  byId("welcome").hidden = true;
  remember(thread, text.trim().slice(0, 80));
  history.replaceState(null, "", `#/chat/${thread}`);
  const messages = byId("messages");
  const card = el("article", { class: "answer", "aria-busy": "true", hidden: true }, el("div", { class: "text" }));
  messages.append(asked(text), card);
  busy(true);
  let ended = false;
  try {
    const json = { id: crypto.randomUUID(), text };
    const path = `/api/threads/${thread}/turns`;
    for await (const event of lines(path, { method: "POST", json, signal: running.signal })) {
      if (event.type === "working") say("status", `${event.text} …`, { busy: true });
      else if (event.type === "text") {
        card.hidden = false;
        card.firstElementChild.innerHTML = event.html; // made by the server, which lets no markup through
        follow();
      } else {
        ended = true;
        card.replaceWith(answered(event.reply));
        follow();
      }
    }
    say("status", ended ? "" : "The answer was cut off. Ask again.", { error: !ended });
  } catch (error) {
    card.remove();
    say("status", error.name === "AbortError" ? "Stopped." : error.message, { error: error.name !== "AbortError" });
  } finally {
    busy(false);
    question.focus();
  }
}

function busy(on) {
  running = on ? new AbortController() : null;
  byId("send").hidden = on;
  byId("stop").hidden = !on;
  if (on) say("status", "Working …", { busy: true });
}

function follow() {
  byId("ask").scrollIntoView({ block: "end" });
}

const asked = (text) => el("div", { class: "question" }, el("span", { class: "hidden" }, "You: "), text);

function answered(reply) {
  const text = el("div", { class: "text" });
  text.innerHTML = reply.html; // made by the server, which lets no markup through
  const card = el("article", { class: `answer ${reply.kind}`, "aria-label": "Answer" }, text);
  text.addEventListener("click", (event) => jump(event, card));
  if (reply.sources.length) card.append(sources(reply));
  for (const note of reply.notes) card.append(el("p", { class: "note" }, note));
  if (reply.reference) card.append(el("p", { class: "note" }, `Reference: ${reply.reference}`));
  if (reply.kind !== "notice") card.append(acts(reply));
  if (reply.suggestions.length) {
    card.append(el("ul", { class: "chips" }, ...reply.suggestions.map((s) =>
      el("li", {}, el("button", { type: "button", click: () => ask(s) }, s)))));
  }
  return card;
}

/** A mark opens its source's passage, or leads to it in the list where it has no page of its own. */
function jump(event, card) {
  const mark = event.target.closest("a.cite");
  if (!mark) return;
  event.preventDefault();
  const entry = card.querySelector(`[id="${CSS.escape(mark.hash.slice(1))}"]`);
  const link = entry?.querySelector("a");
  if (link) open(link.href, "_blank", "noopener");
  else entry?.scrollIntoView({ block: "nearest" });
}

function sources(reply) {
  return el("section", { class: "sources", "aria-label": "Sources" }, el("h3", {}, "Sources"),
    el("ol", {}, ...reply.sources.map((source) =>
      el("li", { id: `${reply.anchor}-${source.number}` },
        el("span", { class: "cite" }, source.label),
        el("div", {},
          source.url ? el("a", { href: source.url, target: "_blank", rel: "noopener" }, source.title) : source.title,
          el("span", { class: "place" }, source.place ? `, ${source.place}` : "")),
        el("blockquote", {}, `“${shorten(source.quote)}”`)))));
}

const shorten = (text) => {
  const plain = text.replace(/\s+/g, " ").trim();
  return plain.length > 280 ? `${plain.slice(0, 279)}…` : plain;
};

function acts(reply) {
  const row = el("div", { class: "acts" });
  const rate = (rating, label) => el("button", {
    type: "button", class: "plain", "aria-pressed": "false",
    click: async ({ currentTarget }) => {
      const reason = rating === "down" ? prompt("What was wrong? (optional)") : "";
      if (reason === null) return;
      await call(`/api/turns/${reply.turn}/feedback`, { method: "POST", json: { rating, reason } });
      for (const button of row.querySelectorAll("[aria-pressed]")) button.setAttribute("aria-pressed", "false");
      currentTarget.setAttribute("aria-pressed", "true");
    },
  }, label);
  row.append(
    rate("up", "👍 Helpful"), rate("down", "👎 Not helpful"),
    el("button", { type: "button", class: "plain", click: () => why(reply.turn) }, "Why this answer?"),
    el("button", { type: "button", class: "plain", click: () => navigator.clipboard.writeText(reply.text) }, "Copy"));
  return row;
}

async function why(turn) {
  try {
    const explanation = await call(`/api/turns/${turn}/explanation`);
    const total = Math.max(explanation.total_ms, 1);
    showDialog("Why this answer?",
      el("p", {}, `“${explanation.question}” was answered in ${milliseconds(explanation.total_ms)}.`),
      el("ol", { class: "timeline" }, ...explanation.steps.map((step) => el("li", {},
        el("h3", {}, step.title, el("span", {}, milliseconds(step.ms) + tokens(step))),
        bar(step.start_ms / total, step.ms / total),
        ...step.lines.map((line) => el("p", {}, line)),
        step.note ? el("p", { class: "dim" }, step.note) : null))));
  } catch (error) {
    say("status", error.message, { error: true });
  }
}

const milliseconds = (ms) => (ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`);
const tokens = (step) => (step.input_tokens + step.output_tokens
  ? ` · ${step.input_tokens} + ${step.output_tokens} tokens` : "");

function bar(start, width) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.setAttribute("aria-hidden", "true");
  for (const [key, value] of Object.entries({ x: `${start * 100}%`, width: `${Math.max(width * 100, 0.5)}%`, height: "6" })) {
    rect.setAttribute(key, value);
  }
  svg.append(rect);
  return svg;
}
