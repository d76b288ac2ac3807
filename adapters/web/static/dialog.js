// The page's one dialog: to show something, to confirm something, or to ask for a text.
import { button, byId, el } from "./dom.js";

export function startDialog() {
  const dialog = byId("dialog");
  byId("dialog-close").addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => byId("dialog-body").replaceChildren());
}

/** Show something. Escape and a click beside it close it; the focus goes back to where it was. */
export function showDialog(title, ...content) {
  const opener = document.activeElement;
  byId("dialog").addEventListener("close", () => {
    const { key } = opener.dataset; // of a button in a list that was drawn anew meanwhile
    if (!opener.isConnected && key) document.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus();
  }, { once: true });
  byId("dialog-title").textContent = title;
  byId("dialog-body").replaceChildren(...content);
  byId("dialog").showModal();
}

export const closeDialog = () => byId("dialog").close();

/**
 * Ask, and give what was typed ("" without a field), or null where the person thought better of it.
 * `field` is an input or textarea with its label in `label`; `danger` marks what can't be undone.
 */
export function ask({ title, text, label, field, action, danger = false }) {
  return new Promise((resolve) => {
    let answer = null;
    const cancel = button("Cancel", closeDialog);
    const form = el("form", {
      submit: (event) => {
        event.preventDefault();
        answer = field?.value ?? "";
        closeDialog();
      },
    },
    text ? el("p", {}, text) : null,
    field ? el("label", { class: "ask" }, label, field) : null,
    el("div", { class: "choices" }, cancel, el("button", { type: "submit", class: danger ? "danger" : null }, action)));
    byId("dialog").addEventListener("close", () => resolve(answer), { once: true });
    showDialog(title, form);
    (field ?? cancel).focus();
  });
}
