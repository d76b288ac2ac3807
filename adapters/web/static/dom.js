// Small helpers: elements, requests, streams.

/** An element with attributes (a function is a listener) and children; texts are never markup. */
export function el(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

/** A request that answers JSON. Throws an Error whose message a person can read. */
export async function call(path, { method = "GET", json, body, signal } = {}) {
  const response = await send(path, { method, json, body, signal });
  return response.json();
}

async function send(path, { method, json, body, signal }) {
  const options = { method, signal, body };
  if (json !== undefined) {
    options.body = JSON.stringify(json);
    options.headers = { "Content-Type": "application/json" };
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("Footnote can't be reached. Is it still running?");
  }
  if (!response.ok) {
    const text = await response.text();
    let message = text;
    try { message = JSON.parse(text).error ?? text; } catch { /* plain text */ }
    throw new Error(message || `The request failed (${response.status}).`);
  }
  return response;
}

/** Each line of a stream of JSON lines, parsed. */
export async function* lines(path, options) {
  const response = await send(path, { method: "GET", ...options });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    for (const part of parts) if (part) yield JSON.parse(part);
  }
}

export function say(id, text, { busy = false, error = false } = {}) {
  const place = byId(id);
  place.textContent = text;
  place.classList.toggle("busy", busy);
  place.classList.toggle("error", error);
}

/** Show something in the dialog; closing it gives the focus back. */
export function showDialog(title, ...content) {
  byId("dialog-title").textContent = title;
  byId("dialog-body").replaceChildren(...content);
  byId("dialog").showModal();
}
