// Uploads: choose or drop, send, and watch to the end.
import { button, byId, call, count, el, lines, say } from "./dom.js";
import { loadDocuments } from "./documents.js";

export const STAGES = {
  queued: "waiting", parsing: "reading", chunking: "splitting", embedding: "embedding", indexing: "storing",
  done: "done", failed: "failed", cancelled: "cancelled",
};
export const finished = (item) => ["done", "failed", "cancelled"].includes(item.stage);

/** Files and bytes that one request carries, so that the first ones are worked on while others are sent. */
const BATCH = { files: 8, bytes: 16e6 };
/** Milliseconds until a watch that broke off is tried again. */
const RETRY = 3000;
/** Milliseconds between two looks at the whole list while documents come to their end one after the other. */
const LIST_EVERY = 500;
/** What is listed, by version. */
const items = new Map();
let sending = 0;
let watch = null;
let due = null;

export function startUploads() {
  const drop = byId("drop");
  byId("files").addEventListener("change", ({ target }) => { upload([...target.files]); target.value = ""; });
  byId("upload").addEventListener("submit", (event) => event.preventDefault());
  byId("cancel-all").addEventListener("click", () => cancel(open()));
  byId("clear-progress").addEventListener("click", () => { forget((item) => finished(item)); byId("files").focus(); });
  // A file may be dropped anywhere: beside the field it must not replace the page.
  const files = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over"); });
  addEventListener("drop", async (event) => {
    drop.classList.remove("over");
    if (!files(event)) return;
    event.preventDefault();
    const dropped = await filesOf(event.dataTransfer);
    if (byId("view-documents").hidden) location.hash = "#/documents";
    upload(dropped);
  });
}

/** What was dropped, and what is inside dropped folders; hidden files are left out there. */
async function filesOf(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const found = [];
  const visit = async (entry) => {
    if (entry.isFile) found.push(await new Promise((done, failed) => entry.file(done, failed)));
    else {
      const reader = entry.createReader();
      for (;;) { // it gives a hundred at a time
        const inside = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!inside.length) break;
        for (const one of inside) if (!one.name.startsWith(".")) await visit(one);
      }
    }
  };
  for (const entry of entries) await visit(entry);
  return found;
}

async function upload(files) {
  if (!files.length) return;
  forget((item) => item.stage === "done");
  sending += files.length;
  state();
  let problem = "";
  const left = [...files];
  while (left.length && !problem) {
    const batch = [];
    for (let bytes = 0; left.length && batch.length < BATCH.files && (!batch.length || bytes + left[0].size <= BATCH.bytes);) {
      bytes += left[0].size;
      batch.push(left.shift());
    }
    try {
      const { items: taken } = await call("/api/documents", { method: "POST", body: formOf(batch) });
      sending -= batch.length;
      follow(taken);
    } catch (error) {
      problem = error.message;
      left.unshift(...batch);
    }
  }
  sending -= left.length;
  state();
  await loadDocuments();
  if (problem) {
    const what = left.length === 1 ? left[0].name : `${left.length} files`;
    say("upload-status", `${what}: not sent. ${problem}`, { error: true });
  }
}

function formOf(files) {
  const form = new FormData();
  form.append("names", JSON.stringify(files.map((file) => file.name)));
  form.append("knowledge_base", byId("upload-base").value);
  form.append("labels", byId("upload-labels").value);
  form.append("same_name", byId("upload-both").checked ? "keep_both" : "replace");
  for (const file of files) form.append("file", file, "file"); // a header can't carry every name
  return form;
}

const open = () => [...items.values()].filter((item) => !finished(item));

/** List these, and watch those that are on their way. */
export function follow(news) {
  const unknown = news.filter((item) => !finished(item) && !items.has(item.version_id));
  update(news);
  if (unknown.length) rewatch();
}

/** One stream watches all, since a browser opens only a few connections to a server. */
async function rewatch() {
  watch?.abort();
  const mine = watch = new AbortController();
  try {
    const ids = open().map((item) => item.version_id);
    for await (const event of lines("/api/documents/progress", { json: { ids }, signal: mine.signal })) update(event.items);
  } catch (error) {
    if (error.name === "AbortError") return;
    say("upload-status", error.message, { error: true });
    setTimeout(() => { if (watch === mine && open().length) rewatch(); }, RETRY);
  }
}

function update(news) {
  const ended = news.some((item) => finished(item) && items.has(item.version_id) && !finished(items.get(item.version_id)));
  const list = byId("progress");
  for (const item of news) {
    items.set(item.version_id, item);
    const old = byId(`p-${item.version_id}`);
    if (old?.dataset.state === JSON.stringify(item)) continue;
    const focused = old?.contains(document.activeElement);
    const row = line(item);
    if (old) old.replaceWith(row);
    else list.append(row);
    if (focused) row.querySelector("button").focus();
  }
  state();
  if (ended) due ??= setTimeout(() => { due = null; loadDocuments(); }, LIST_EVERY);
}

function forget(which) {
  for (const [id, item] of items) {
    if (!which(item)) continue;
    items.delete(id);
    byId(`p-${id}`)?.remove();
  }
  state();
}

/** The sentence about all, and the buttons for all. */
function state() {
  const all = [...items.values()];
  const number = (stage) => all.filter((item) => item.stage === stage).length;
  const under = open().length;
  byId("cancel-all").hidden = under < 2;
  byId("clear-progress").hidden = all.length === under;
  const parts = [];
  if (sending) parts.push(`Sending ${count(sending, "file")} …`);
  if (all.length) parts.push(`${number("done")} of ${count(all.length + sending, "document")} done.`);
  if (number("failed")) parts.push(`${number("failed")} failed.`);
  if (number("cancelled")) parts.push(`${number("cancelled")} cancelled.`);
  say("upload-status", parts.join(" "), { busy: under > 0 || sending > 0, error: number("failed") > 0 });
}

function line(item) {
  const act = finished(item)
    ? button("✕", () => { forget((one) => one.version_id === item.version_id); byId("files").focus(); }, { class: "plain", "aria-label": `Hide ${item.name}` })
    : button("Cancel", () => cancel([item]), { class: "plain", "aria-label": `Cancel ${item.name}` });
  const part = item.total && !finished(item) ? ` ${item.done} of ${item.total}` : "";
  return el("li", { id: `p-${item.version_id}`, "data-stage": item.stage, "data-state": JSON.stringify(item) },
    el("span", { class: "name", dir: "auto", title: item.name }, item.name),
    el("span", { class: `state ${item.stage}` }, STAGES[item.stage] + part),
    bar(item), act,
    item.message ? el("p", { class: `why ${item.stage}` }, item.message) : null);
}

function bar(item) {
  const attributes = { max: 1, "aria-label": `Progress of ${item.name}` };
  if (finished(item)) attributes.value = item.stage === "done" ? 1 : 0;
  else if (item.total) attributes.value = item.done / item.total;
  return el("progress", attributes);
}

async function cancel(which) {
  try {
    update((await call("/api/documents/cancel", { method: "POST", json: { ids: which.map((item) => item.version_id) } })).items);
  } catch (error) {
    say("upload-status", error.message, { error: true });
  }
}
