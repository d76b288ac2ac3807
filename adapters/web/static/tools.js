// Search test and settings.
import { byId, call, el, say } from "./dom.js";

const MODES = { hybrid: "Hybrid", semantic: "Semantic", keyword: "Keyword" };
let form = null;

export function startTools() {
  byId("search").addEventListener("submit", (event) => { event.preventDefault(); search(byId("query").value); });
  byId("settings").addEventListener("submit", (event) => { event.preventDefault(); save(); });
}

async function search(query) {
  say("search-status", "Searching …", { busy: true });
  try {
    const found = await call(`/api/search?q=${encodeURIComponent(query)}`);
    byId("results").replaceChildren(...Object.entries(MODES).map(([mode, name]) =>
      el("section", {}, el("h2", {}, name),
        found[mode].length ? el("ol", {}, ...found[mode].map(hit)) : el("p", { class: "dim" }, "Nothing found."))));
    say("search-status", `${found.hybrid.length} passages.`);
  } catch (error) {
    say("search-status", error.message, { error: true });
  }
}

function hit(found) {
  const lists = Object.entries(found.lists).map(([name, [rank, score]]) => `${name.replace(/:0$/, "")} ${rank} (${score.toFixed(3)})`);
  const place = [found.title, ...found.heading_path.slice(-1)].join(" › ") + (found.page ? `, p. ${found.page}` : "");
  return el("li", {},
    el("strong", {}, `${found.rank}. `, found.url ? el("a", { href: found.url, target: "_blank", rel: "noopener" }, place) : place),
    el("div", { class: "score" }, [found.score.toFixed(4), ...lists].join(" · ")),
    el("p", {}, found.text.replace(/\s+/g, " ").slice(0, 220)));
}

export async function loadSettings() {
  try {
    render(await call("/api/settings"));
    say("settings-status", "");
  } catch (error) {
    say("settings-status", error.message, { error: true });
  }
}

function render(settings, errors = {}) {
  form = settings;
  const groups = Map.groupBy ? Map.groupBy(form.fields, (f) => f.group) : group(form.fields);
  byId("settings").replaceChildren(
    ...[...groups].map(([name, fields]) => el("fieldset", {}, el("legend", {}, name), ...fields.map((f) => field(f, errors[f.name])))),
    el("button", { type: "submit" }, form.submit));
  byId("settings").querySelector("[aria-invalid]")?.focus();
}

function group(fields) {
  const groups = new Map();
  for (const f of fields) groups.set(f.group, [...(groups.get(f.group) ?? []), f]);
  return groups;
}

function field(f, error) {
  const id = `setting-${f.name}`;
  const described = [f.help || f.disabled_because ? `${id}-help` : "", error ? `${id}-error` : ""].filter(Boolean).join(" ");
  const shared = { id, name: f.name, disabled: Boolean(f.disabled_because), "aria-describedby": described || null, "aria-invalid": error ? "true" : null };
  return el("div", { class: "field" },
    el("label", { for: id }, f.label), control(f, shared),
    f.help || f.disabled_because ? el("p", { class: "help", id: `${id}-help` }, f.disabled_because ?? f.help) : null,
    error ? el("p", { class: "error", id: `${id}-error` }, error) : null);
}

function control(f, shared) {
  if (f.kind === "choice") {
    return el("select", shared, ...f.options.map((o) => el("option", { value: o.value, selected: o.value === f.value }, o.label)));
  }
  if (f.kind === "toggle") return el("input", { ...shared, type: "checkbox", checked: Boolean(f.value) });
  if (f.kind === "long_text") return el("textarea", { ...shared, maxlength: f.max_length, placeholder: f.placeholder }, f.value ?? "");
  const number = f.kind === "number";
  return el("input", {
    ...shared, value: f.value ?? "", type: number ? "number" : "text", min: f.minimum, max: f.maximum,
    step: number ? f.step ?? "any" : null, maxlength: number ? null : f.max_length, placeholder: f.placeholder,
  });
}

async function save() {
  const values = {};
  for (const f of form.fields) {
    const input = byId(`setting-${f.name}`);
    if (!input.disabled) values[f.name] = f.kind === "toggle" ? input.checked : input.value;
  }
  try {
    const json = { form_id: form.id, revision: form.revision, values };
    const result = await call("/api/settings", { method: "POST", json });
    if (result.conflict) {
      render(result.conflict);
      say("settings-status", "Somebody else saved in between. These are the settings as they are now.", { error: true });
    } else if (Object.keys(result.errors).length) {
      render({ ...form, fields: form.fields.map((f) => (f.name in values ? { ...f, value: values[f.name] } : f)) }, result.errors);
      say("settings-status", "Not saved: see the fields marked above.", { error: true });
    } else {
      await loadSettings();
      say("settings-status", result.message);
    }
  } catch (error) {
    say("settings-status", error.message, { error: true });
  }
}
