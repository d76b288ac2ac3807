// Elements, requests, streams.

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

/** A button that does something; "plain" ones look like text. */
export const button = (text, click, attributes = {}) => el("button", { type: "button", click, ...attributes }, text);

// The one place where text becomes markup: answers that the server made HTML of, and let nothing through.
const answers = globalThis.trustedTypes?.createPolicy("answers", { createHTML: (html) => html });
export function setAnswer(element, html) {
  element.innerHTML = answers ? answers.createHTML(html) : html;
}

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
    const text = await response.text().catch(() => "");
    let message = text;
    try { message = JSON.parse(text).error ?? text; } catch { /* plain text */ }
    throw new Error(message || `The request failed (${response.status}).`);
  }
  return response;
}

/** Each line of a stream of JSON lines, parsed. Throws what the server says went wrong on the way. */
export async function* lines(path, options) {
  const response = await send(path, { method: "POST", ...options });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    let chunk;
    try {
      chunk = await reader.read();
    } catch (error) {
      if (error.name === "AbortError") throw error;
      throw new Error("The connection to Footnote broke off. Is it still running?");
    }
    if (chunk.done) break;
    const parts = (rest + chunk.value).split("\n");
    rest = parts.pop();
    for (const part of parts) {
      const event = JSON.parse(part);
      if (event.type === "error") throw new Error(event.error);
      yield event;
    }
  }
}

export function say(id, text, { busy = false, error = false } = {}) {
  const place = byId(id);
  if (place.textContent !== text) place.textContent = text; // said once, not with every event
  place.classList.toggle("busy", busy);
  place.classList.toggle("error", error);
}

export const count = (number, one, many = `${one}s`) => `${number} ${number === 1 ? one : many}`;
