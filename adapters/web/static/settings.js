// Settings: the workspace's neutral form, saved without losing what another admin set meanwhile.
import { byId, call, el, say } from "./dom.js";

let form = null;

export function startSettings() {
  byId("settings").addEventListener("submit", (event) => { event.preventDefault(); save(); });
}

export async function loadSettings() {
  if (form && changed().length) return; // what was typed before another view was looked at stays
  try {
    render(await call("/api/settings"));
    say("settings-status", "");
  } catch (error) {
    say("settings-status", error.message, { error: true });
  }
}

/** `values` are what the person has set; `errors` and `remarks` stand at their field. */
function render(settings, { values = {}, errors = {}, remarks = {} } = {}) {
  form = settings;
  const groups = [...new Set(form.fields.map((f) => f.group))];
  byId("settings").replaceChildren(
    ...(form.intro ? [el("p", {}, form.intro)] : []),
    ...groups.map((name) => el("fieldset", {}, el("legend", {}, name || form.title),
      ...form.fields.filter((f) => f.group === name).map((f) =>
        field(Object.hasOwn(values, f.name) ? { ...f, value: values[f.name] } : f, errors[f.name], remarks[f.name])))));
  byId("save-settings").textContent = form.submit;
  byId("save-settings").hidden = false;
  byId("settings").querySelector("[aria-invalid]")?.focus();
}

function field(f, error, remark) {
  const id = `setting-${f.name}`;
  const help = f.disabled_because ?? f.help;
  const notes = { help, remark, error };
  const described = Object.keys(notes).filter((kind) => notes[kind]).map((kind) => `${id}-${kind}`).join(" ");
  const shared = {
    id, name: f.name, disabled: Boolean(f.disabled_because), "aria-describedby": described || null,
    "aria-invalid": error ? "true" : null, "aria-required": f.required ? "true" : null,
  };
  const labelled = f.kind === "choices" || f.kind === "info";
  return el("div", { class: `field ${f.kind}` },
    labelled ? el("span", { id: `${id}-label` }, f.label) : el("label", { for: id }, f.label), control(f, shared),
    ...Object.entries(notes).map(([kind, text]) => (text ? el("p", { class: kind, id: `${id}-${kind}` }, text) : null)));
}

function control(f, shared) {
  const typed = { ...shared, maxlength: f.max_length, placeholder: f.placeholder || null };
  switch (f.kind) {
    case "choice":
      return el("select", shared, ...f.options.map((o) => el("option", { value: o.value, selected: o.value === f.value }, o.label)));
    case "choices":
      return el("div", { role: "group", id: shared.id, "aria-labelledby": `${shared.id}-label`, "aria-describedby": shared["aria-describedby"] },
        ...f.options.map((o) => el("label", { class: "check" },
          el("input", { type: "checkbox", value: o.value, disabled: shared.disabled, checked: (f.value ?? []).includes(o.value) }), o.label)));
    case "toggle":
      return el("input", { ...shared, type: "checkbox", checked: Boolean(f.value) });
    case "long_text":
      return el("textarea", { ...typed, rows: 4 }, f.value ?? "");
    case "number": // a text field, so that what is typed wrongly comes back with its error
      return el("input", { ...shared, value: f.value ?? "", inputmode: f.step === 1 ? "numeric" : "decimal" });
    case "info":
      return el("p", { id: shared.id }, f.value ?? "");
    default:
      return el("input", { ...typed, type: "text", value: f.value ?? "" });
  }
}

function valueOf(f) {
  const input = byId(`setting-${f.name}`);
  if (f.kind === "toggle") return input.checked;
  if (f.kind === "choices") return [...input.querySelectorAll(":checked")].map((box) => box.value);
  return input.value;
}

const settable = (f) => f.kind !== "info" && f.kind !== "file" && !f.disabled_because;
const same = (f, one, other) => (f.kind === "toggle" ? Boolean(one) === Boolean(other) : String(one ?? "") === String(other ?? ""));
/** The fields that the person has set to something else. */
const changed = () => form.fields.filter((f) => settable(f) && !same(f, valueOf(f), f.value));

async function save() {
  if (!form) return;
  const mine = changed();
  const values = Object.fromEntries(form.fields.filter(settable).map((f) => [f.name, valueOf(f)]));
  try {
    const json = { form_id: form.id, revision: form.revision, values };
    const result = await call("/api/settings", { method: "POST", json });
    if (result.conflict) merge(mine, values, result.conflict);
    else if (Object.keys(result.errors).length) {
      render(form, { values, errors: result.errors });
      say("settings-status", "Not saved: see the fields marked above.", { error: true });
    } else {
      render(await call("/api/settings"));
      say("settings-status", result.message);
    }
  } catch (error) {
    say("settings-status", error.message, { error: true });
  }
}

/** Somebody saved in between: their settings, with this person's changes on top and the clashes said. */
function merge(mine, values, theirs) {
  const before = new Map(form.fields.map((f) => [f.name, f]));
  const kept = {};
  const remarks = {};
  for (const f of theirs.fields) {
    if (!mine.some((one) => one.name === f.name)) continue;
    kept[f.name] = values[f.name];
    if (same(f, f.value, before.get(f.name).value) || same(f, f.value, values[f.name])) continue;
    remarks[f.name] = `Somebody else has just set this to: ${shown(f)}`;
  }
  render(theirs, { values: kept, remarks });
  say("settings-status", mine.length
    ? "Somebody else saved in between. Your changes are still here: check them and save again."
    : "Somebody else saved in between. These are the settings as they are now.", { error: true });
  byId("settings").querySelector(".remark")?.scrollIntoView({ block: "center" });
}

function shown(f) {
  if (f.kind === "toggle") return f.value ? "on" : "off";
  return f.options.find((o) => o.value === f.value)?.label ?? (String(f.value ?? "") || "nothing");
}
