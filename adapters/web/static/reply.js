// An answer with its sources, and what can be done with it.
import { button, byId, call, count, el, say, setAnswer } from "./dom.js";
import { ask as askFor } from "./dialog.js";
import { preview } from "./preview.js";
import { why } from "./why.js";

/** The card of a reply; `ask` asks one of its suggestions. */
export function answered(reply, ask) {
  const text = el("div", { class: "text" });
  setAnswer(text, reply.html);
  const label = reply.sources.length ? `Answer with ${count(reply.sources.length, "source")}` : "Answer";
  const card = el("article", { class: `answer ${reply.kind}`, "aria-label": label }, text);
  text.addEventListener("click", (event) => jump(event, card));
  if (reply.sources.length) card.append(sources(reply));
  for (const note of reply.notes) card.append(el("p", { class: "note" }, note));
  if (reply.reference) card.append(el("p", { class: "note" }, `Reference: ${reply.reference}`));
  if (reply.kind !== "notice") card.append(acts(reply));
  if (reply.suggestions.length) {
    card.append(el("ul", { class: "chips" }, ...reply.suggestions.map((s) => el("li", {}, button(s, () => ask(s))))));
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
  if (link) link.click();
  else entry?.scrollIntoView({ block: "nearest" });
}

function sources(reply) {
  return el("section", { class: "sources", role: "group", "aria-label": "Sources" }, el("h2", {}, "Sources"),
    el("ol", {}, ...reply.sources.map((source) =>
      el("li", { id: `${reply.anchor}-${source.number}` },
        el("span", { class: "cite" }, source.label),
        el("div", {},
          source.url
            ? el("a", { href: source.url, target: "_blank", rel: "noopener", dir: "auto" }, source.title)
            : el("span", { dir: "auto" }, source.title),
          el("span", { class: "place" }, source.place ? `, ${source.place}` : "")),
        el("blockquote", { dir: "auto" }, `“${source.excerpt}”`)))));
}

function acts(reply) {
  const row = el("div", { class: "acts" });
  const rate = (rating, label) => button(label, async ({ currentTarget: pressed }) => {
    const reason = rating === "down" ? await reasonFor() : "";
    if (reason === null) return;
    try {
      await call(`/api/turns/${reply.turn}/feedback`, { method: "POST", json: { rating, reason } });
    } catch (error) {
      say("status", error.message, { error: true });
      return;
    }
    for (const other of row.querySelectorAll("[aria-pressed]")) other.setAttribute("aria-pressed", "false");
    pressed.setAttribute("aria-pressed", "true");
    say("status", "Thank you for telling.");
  }, { class: "plain", "aria-pressed": "false" });
  if (reply.kind !== "apology") row.append(rate("up", "👍 Helpful"), rate("down", "👎 Not helpful"));
  row.append(button("Why this answer?", () => why(reply.turn), { class: "plain", "aria-haspopup": "dialog" }));
  row.append(button("Preview", () => preview(reply.turn), { class: "plain", "aria-haspopup": "dialog" }));
  row.append(button("Copy", () => copy(reply), { class: "plain" }));
  return row;
}

const reasonFor = () => askFor({
  title: "Not helpful", label: "What was wrong? (optional)", action: "Send",
  field: el("textarea", { rows: 4, maxlength: 3000 }),
});

/** The answer as Markdown, with its sources in words. */
async function copy(reply) {
  const list = reply.sources.map((s) => `[${s.label}] ${s.title}${s.place ? `, ${s.place}` : ""}`);
  try {
    await navigator.clipboard.writeText([reply.text, ...(list.length ? [list.join("\n")] : [])].join("\n\n"));
    say("status", "Copied.");
  } catch {
    say("status", "The browser did not allow to copy. Select the text instead.", { error: true });
  }
  byId("status").scrollIntoView({ block: "nearest" });
}
