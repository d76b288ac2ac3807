// The Markdown of previews as elements: what Slack and Teams show of it. Texts are never markup.
import { el } from "./dom.js";

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|~~(.+?)~~|\*([^*\s][^*]*?)\*|\[((?:\\.|[^\]\\])*)\]\((https?:\/\/[^\s)]+)\)|\[([^\]\n]{1,80})\]|\\([!-/:-@[-`{-~])/g;

/** A line's children; `mark` makes the element of a `[label]`, or null where it is only a text. */
export function inline(text, mark = () => null) {
  const parts = [];
  let at = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, , code, strong, gone, em, label, url, cited, escaped] = found;
    parts.push(text.slice(at, found.index));
    at = found.index + all.length;
    if (code) parts.push(el("code", {}, code));
    else if (strong) parts.push(el("strong", {}, ...inline(strong, mark)));
    else if (gone) parts.push(el("s", {}, ...inline(gone, mark)));
    else if (em) parts.push(el("em", {}, ...inline(em, mark)));
    else if (url) parts.push(link(url, label.replace(/\\(.)/g, "$1")));
    else if (cited) parts.push(mark(cited) ?? all);
    else parts.push(escaped);
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

export const link = (url, text) => (/^https?:\/\//i.test(url)
  ? el("a", { href: url, target: "_blank", rel: "noopener noreferrer", dir: "auto" }, text) : text);

/** Blocks as these platforms' writers make them: each begins at the margin, with its sign. */
export function blocks(text, mark) {
  const made = [];
  const lines = text.split("\n");
  while (lines.length) {
    const line = lines.shift();
    const fence = /^(`{3,})/.exec(line);
    const heading = /^#{1,6} (.*)/.exec(line);
    if (fence) {
      const end = lines.indexOf(fence[1]);
      made.push(el("pre", { tabindex: "0" }, el("code", {}, lines.splice(0, end < 0 ? lines.length : end).join("\n"))));
      lines.shift();
    } else if (heading) made.push(el("p", {}, el("strong", {}, ...inline(heading[1], mark))));
    else if (line === "---") made.push(el("hr"));
    else if (ITEM.test(line)) made.push(list([line, ...taken(lines, (next) => (ITEM.test(next) ? ordered(next) === ordered(line) : /^\s|^$/.test(next)))], mark));
    else if (line.startsWith(">")) made.push(el("blockquote", {}, ...blocks([line, ...taken(lines, (next) => next.startsWith(">"))].map((one) => one.replace(/^> ?/, "")).join("\n"), mark)));
    else if (line.startsWith("| ")) made.push(table([line, ...taken(lines, (next) => next.startsWith("| "))].filter((row) => !/^[|: -]+$/.test(row)).map((row) => row.slice(2, -2).split(/(?<!\\) \| /).map((cell) => inline(cell.replace(/\\\|/g, "|"), mark)))));
    else if (line.trim()) made.push(el("p", { dir: "auto" }, ...inline([line, ...taken(lines, (next) => next.trim() && !/^(#{1,6} |`{3}|> |\| )/.test(next) && !ITEM.test(next))].join("\n"), mark)));
  }
  return made;
}

const ITEM = /^(- |(\d+)\. )/;
const ordered = (line) => !line.startsWith("- ");

function taken(lines, wanted) {
  const end = lines.findIndex((line) => !wanted(line));
  return lines.splice(0, end < 0 ? lines.length : end);
}

function list(lines, mark) {
  const items = [];
  for (const line of lines) {
    if (ITEM.test(line)) items.push([line.replace(ITEM, "")]);
    else items.at(-1).push(line.trimStart() === line ? line : line.replace(/^ {2,5}/, ""));
  }
  const start = ITEM.exec(lines[0])[2];
  return el(start ? "ol" : "ul", { start, dir: "auto" }, ...items.map((item) => el("li", {}, ...blocks(item.join("\n"), mark))));
}

/** A table of cells that are children each; the first row is its head. `align` has a side for each column. */
export function table([head, ...rows], align = []) {
  const row = (name, cells) => el("tr", {}, ...cells.map((cell, column) =>
    el(name, { class: align[column]?.toLowerCase(), scope: name === "th" ? "col" : null }, ...cell)));
  return el("div", { class: "table", tabindex: "0", role: "group", "aria-label": "Table" },
    el("table", { dir: "auto" }, el("thead", {}, row("th", head)), el("tbody", {}, ...rows.map((cells) => row("td", cells)))));
}
