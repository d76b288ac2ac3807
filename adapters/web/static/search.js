// Search test: what each kind of search finds, side by side.
import { byId, call, count, el, say } from "./dom.js";

const MODES = { hybrid: "Hybrid", semantic: "Semantic", keyword: "Keyword" };
const LISTS = { dense: "semantic", bm25: "keyword" };
let latest = 0;

export function startSearch() {
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); search(byId("query").value.trim()); });
}

async function search(query) {
  if (!query) {
    say("search-status", "Type what to search for.", { error: true });
    byId("query").focus();
    return;
  }
  const mine = ++latest;
  say("search-status", "Searching …", { busy: true });
  try {
    const found = await call(`/api/search?q=${encodeURIComponent(query)}`);
    if (mine !== latest) return;
    byId("results").replaceChildren(...Object.entries(MODES).map(([mode, name]) =>
      el("section", { "aria-label": name }, el("h2", {}, name),
        found[mode].length ? el("ol", {}, ...found[mode].map(hit)) : el("p", { class: "dim" }, "Nothing found."))));
    const most = Math.max(...Object.values(found).map((hits) => hits.length));
    say("search-status", most ? `Up to ${count(most, "passage")} of each kind.` : "Nothing found.");
  } catch (error) {
    if (mine !== latest) return;
    byId("results").replaceChildren();
    say("search-status", error.message, { error: true });
  }
}

function hit(found) {
  const lists = Object.entries(found.lists).map(([name, [rank, score]]) =>
    `${LISTS[name.split(":")[0]] ?? name} no. ${rank} (${score.toFixed(2)})`);
  return el("li", {},
    el("strong", { dir: "auto" }, `${found.rank}. `,
      found.url ? el("a", { href: found.url, target: "_blank", rel: "noopener" }, found.title) : found.title),
    found.place ? el("div", { class: "dim", dir: "auto" }, found.place) : null,
    el("div", { class: "score" }, [`score ${found.score.toFixed(4)}`, ...lists].join(" · ")),
    el("p", { dir: "auto" }, found.excerpt));
}
