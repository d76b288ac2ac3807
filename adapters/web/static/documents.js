// The documents: list, filter, labels, delete.
import { button, byId, call, count, el, say } from "./dom.js";
import { ask } from "./dialog.js";
import { STAGES, finished, follow } from "./uploads.js";

/** So many documents and more can be filtered. */
const MANY = 8;
let documents = [];
let loading = null;
let again = false;

export function startDocuments() {
  byId("filter").addEventListener("input", show);
}

/** Read the list anew; however often it is called meanwhile, one more time is enough. */
export async function loadDocuments() {
  again = true;
  loading ??= (async () => {
    while (again) {
      again = false;
      await load();
    }
    loading = null;
  })();
  return loading;
}

async function load() {
  try {
    const found = await call("/api/documents");
    documents = found.documents;
    byId("bases").replaceChildren(...found.knowledge_bases.map((name) => el("option", { value: name })));
    show();
    follow(documents.map((document) => document.state).filter((item) => !finished(item)));
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
}

function show() {
  byId("filter-row").hidden = documents.length < MANY;
  const wanted = byId("filter-row").hidden ? "" : byId("filter").value.trim().toLowerCase();
  const found = documents.filter((d) => [d.title, d.name, d.knowledge_base, ...d.labels].join("\n").toLowerCase().includes(wanted));
  const focused = document.activeElement?.dataset?.key;
  byId("no-documents").hidden = documents.length > 0;
  byId("documents").closest(".table").hidden = documents.length === 0;
  byId("documents").tBodies[0].replaceChildren(...(found.length || !wanted
    ? found.map(row)
    : [el("tr", {}, el("td", { colspan: 5, class: "dim" }, "No document matches."))]));
  if (focused) byId("documents").querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
}

function row(entry) {
  const cell = (name, attributes, ...children) => el("td", { "data-name": name, ...attributes }, ...children);
  const act = (name, click) => button(name, click, {
    class: "plain", "aria-label": `${name} of ${entry.name}`, "aria-haspopup": "dialog", "data-key": `${name} ${entry.document_id}`,
  });
  const pages = entry.pages && count(entry.pages, /\.(pptx?|odp)$/i.test(entry.name) ? "slide" : "page");
  const facts = [entry.title === entry.name ? null : entry.name, pages, size(entry.size), entry.version > 1 ? `version ${entry.version}` : null, date(entry.uploaded_at)];
  const state = entry.state;
  return el("tr", {},
    el("th", { scope: "row" }, el("span", { dir: "auto" }, entry.title), el("div", { class: "dim facts" }, facts.filter(Boolean).join(" · "))),
    cell("Knowledge base", {}, entry.knowledge_base),
    cell("Labels", {}, ...entry.labels.map((label) => el("span", { class: "tag" }, label))),
    cell("Status", {}, el("span", { class: `state ${state.stage}` }, STAGES[state.stage]),
      state.stage === "failed" ? el("div", { class: "why" }, state.message) : null,
      entry.chunks ? el("div", { class: "dim facts line" }, count(entry.chunks, "passage")) : null,
      ...entry.warnings.map((text) => el("div", { class: "dim warning" }, text))),
    cell("", { class: "acts" }, ...(entry.editable ? [act("Labels", () => relabel(entry)), act("Delete", () => remove(entry))] : [])));
}

const date = (text) => new Date(text).toLocaleDateString(undefined, { dateStyle: "medium" });

function size(bytes) {
  const units = ["bytes", "KB", "MB", "GB"];
  const step = bytes ? Math.min(3, Math.floor(Math.log10(bytes) / 3)) : 0;
  const number = bytes / 1000 ** step;
  return `${step && number < 10 ? number.toFixed(1) : Math.round(number)} ${units[step]}`;
}

async function relabel(entry) {
  const labels = await ask({
    title: `Labels of ${entry.name}`, label: "Labels, separated with commas", action: "Save",
    field: el("input", { value: entry.labels.join(", "), maxlength: 1200 }),
  });
  if (labels === null) return;
  const list = labels.split(",").map((label) => label.trim()).filter(Boolean);
  await act(() => call(`/api/documents/${entry.document_id}/labels`, { method: "POST", json: { labels: list } }),
    `The labels of ${entry.name} are saved.`);
}

async function remove(entry) {
  const sure = await ask({
    title: `Delete ${entry.name}?`, text: "It goes with all its versions and passages. This can't be undone.",
    action: "Delete", danger: true,
  });
  if (sure === null) return;
  await act(() => call(`/api/documents/${entry.document_id}`, { method: "DELETE" }), `${entry.name} is deleted.`);
  if (document.activeElement === document.body) byId("documents-title").focus();
}

async function act(work, done) {
  try {
    await work();
    await loadDocuments();
    say("upload-status", done);
  } catch (error) {
    await loadDocuments();
    say("upload-status", error.message, { error: true });
  }
}
