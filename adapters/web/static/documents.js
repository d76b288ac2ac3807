// Documents: drop, watch, label, delete.
import { byId, call, el, lines, say } from "./dom.js";

const STAGES = {
  queued: "waiting", parsing: "reading", chunking: "splitting", embedding: "embedding", indexing: "storing",
  done: "done", failed: "failed", cancelled: "cancelled",
};
const finished = (item) => ["done", "failed", "cancelled"].includes(item.stage);

export function startDocuments() {
  const drop = byId("drop");
  byId("files").addEventListener("change", ({ target }) => { upload([...target.files]); target.value = ""; });
  byId("upload").addEventListener("submit", (event) => event.preventDefault());
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => { event.preventDefault(); upload([...event.dataTransfer.files]); });
  // A file dropped beside the field must not replace the page.
  for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
}

async function upload(files) {
  if (!files.length) return;
  const form = new FormData();
  form.append("knowledge_base", byId("upload-base").value);
  form.append("labels", byId("upload-labels").value);
  form.append("same_name", byId("upload-both").checked ? "keep_both" : "replace");
  for (const file of files) form.append("file", file, file.name);
  say("upload-status", files.length === 1 ? `Sending ${files[0].name} …` : `Sending ${files.length} files …`, { busy: true });
  try {
    watch(await call("/api/documents", { method: "POST", body: form }));
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
}

async function watch(progress) {
  show(progress.items);
  loadDocuments();
  const ids = progress.items.filter((item) => !finished(item)).map((item) => item.version_id);
  try {
    if (ids.length) for await (const update of lines(`/api/documents/progress?ids=${ids.join(",")}`)) show(update.items);
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
  const failed = progress.items.filter((item) => byId(`p-${item.version_id}`)?.dataset.stage === "failed").length;
  const done = progress.items.length - failed;
  say("upload-status", `${done} of ${progress.items.length} ${progress.items.length === 1 ? "document is" : "documents are"} searchable.`, { error: failed > 0 });
  loadDocuments();
}

function show(items) {
  const list = byId("progress");
  for (const item of items) {
    const row = el("li", { id: `p-${item.version_id}`, "data-stage": item.stage },
      el("span", {}, item.name),
      el("span", { class: item.stage }, STAGES[item.stage] + (item.total && !finished(item) ? ` ${item.done} of ${item.total}` : "")),
      bar(item),
      finished(item)
        ? el("button", { type: "button", class: "plain", "aria-label": `Hide ${item.name}`, click: ({ target }) => target.closest("li").remove() }, "✕")
        : el("button", { type: "button", class: "plain", "aria-label": `Cancel ${item.name}`, click: () => cancel(item) }, "Cancel"),
      item.message ? el("p", { class: `why ${item.stage}` }, item.message) : null);
    const old = byId(row.id);
    if (old) old.replaceWith(row);
    else list.append(row);
  }
}

function bar(item) {
  const attributes = { max: 1, "aria-label": `Progress of ${item.name}` };
  if (finished(item)) attributes.value = item.stage === "done" ? 1 : 0;
  else if (item.total) attributes.value = item.done / item.total;
  return el("progress", attributes);
}

async function cancel(item) {
  try {
    show((await call("/api/documents/cancel", { method: "POST", json: { ids: [item.version_id] } })).items);
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
}

export async function loadDocuments() {
  try {
    const { documents, knowledge_bases: bases } = await call("/api/documents");
    byId("bases").replaceChildren(...bases.map((name) => el("option", { value: name })));
    byId("no-documents").hidden = documents.length > 0;
    byId("documents").hidden = documents.length === 0;
    byId("documents").tBodies[0].replaceChildren(...documents.map(row));
    const underway = documents.map((d) => d.state).filter((state) => !finished(state) && !byId(`p-${state.version_id}`));
    if (underway.length) watch({ items: underway });
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
}

function row(document) {
  return el("tr", {},
    el("td", {}, document.title === document.name ? document.name : el("span", {}, document.title, el("br"), el("span", { class: "dim" }, document.name))),
    el("td", {}, document.knowledge_base),
    el("td", {}, ...document.labels.map((label) => el("span", { class: "tag" }, label))),
    el("td", {}, el("span", { class: document.state.stage }, STAGES[document.state.stage]),
      ...document.warnings.map((text) => el("div", { class: "dim" }, text))),
    el("td", {}, String(document.version)),
    el("td", {}, String(document.chunks)),
    el("td", {}, document.editable ? el("span", {},
      el("button", { type: "button", class: "plain", "aria-label": `Labels of ${document.name}`, click: () => relabel(document) }, "Labels"),
      el("button", { type: "button", class: "plain", "aria-label": `Delete ${document.name}`, click: () => remove(document) }, "Delete")) : ""));
}

async function relabel(document) {
  const labels = prompt(`Labels of ${document.name}, separated with commas:`, document.labels.join(", "));
  if (labels === null) return;
  const list = labels.split(",").map((label) => label.trim()).filter(Boolean);
  await act(() => call(`/api/documents/${document.document_id}/labels`, { method: "POST", json: { labels: list } }));
}

async function remove(document) {
  if (!confirm(`Delete ${document.name} with all its traces?`)) return;
  await act(() => call(`/api/documents/${document.document_id}`, { method: "DELETE" }));
}

async function act(work) {
  try {
    await work();
    say("upload-status", "");
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
  loadDocuments();
}
