// "Preview": the answer as Slack and Teams would show it, made from the very JSON that they would be sent.
import { call, count, el, say } from "./dom.js";
import { showDialog } from "./dialog.js";
import { blocks, inline, link, table } from "./markup.js";

export async function preview(turn) {
  try {
    const { slack, teams } = await call(`/api/turns/${turn}/preview`);
    showDialog("Preview", el("div", { class: "previews" },
      pane("Slack", slack.map((message) =>
        el("div", { class: "message" }, sender(), ...message.blocks.map(slackBlock))), slack),
      pane("Microsoft Teams", teams.map((activity) =>
        el("div", { class: "message bubble" }, sender("AI generated"), ...teamsMessage(activity))), teams)));
  } catch (error) {
    say("status", error.message, { error: true });
  }
}

function pane(name, messages, json) {
  const remark = messages.length > 1 ? `As ${count(messages.length, "message")}.` : null;
  return el("section", { class: "pane", "aria-label": name }, el("h3", {}, name),
    remark ? el("p", { class: "dim" }, remark) : null, ...messages,
    el("details", {}, el("summary", {}, "JSON"), el("pre", { tabindex: "0" }, JSON.stringify(json, null, 2))));
}

const sender = (label = "App") => el("p", { class: "sender" },
  el("img", { src: "/assets/icon.svg", alt: "", width: 22, height: 22 }), el("strong", {}, "Footnote"), el("span", { class: "badge" }, label));
/** Looks like a button; a preview has nothing to press. */
const fake = (text) => el("span", { class: "fake" }, text);

const SLACK = {
  markdown: (block) => el("div", { class: "text" }, ...blocks(block.text)),
  table: (block) => table(block.rows.map((row) => row.map((cell) => [cell.text])), block.column_settings.map((column) => column.align)),
  section: (block) => el("div", { class: "with-menu" }, el("p", {}, ...inline(block.text.text.replace(/^\*(.*)\*$/, "**$1**"))),
    block.accessory ? menu(block.accessory) : null),
  rich_text: (block) => el("p", { class: "lines" }, ...block.elements.flatMap((section) => section.elements)
    .map((part) => (part.type === "link" ? link(part.url, part.text) : part.text))),
  context: (block) => el("p", { class: "dim small", dir: "auto" }, ...block.elements.map((part) => part.text)),
  context_actions: (block) => el("p", {}, ...block.elements.flatMap((part) => [
    fake(`👍 ${part.positive_button.text.text}`), fake(`👎 ${part.negative_button.text.text}`)])),
  actions: (block) => el("p", {}, ...block.elements.map((part) => (part.type === "overflow" ? menu(part) : fake(part.text.text)))),
};
const slackBlock = (block) => SLACK[block.type](block);
const menu = (part) => el("span", { class: "fake" }, `⋯ ${part.options.map((option) => option.text.text).join(", ")}`);

const TEAMS = {
  Table: ({ rows, columns }, mark) => table(rows.map(({ cells }) => cells.map(({ items: [item] }) => inline(item.text, mark))),
    columns.map((column) => column.horizontalCellContentAlignment)),
  RichTextBlock: ({ inlines }) => el("p", { class: inlines[0].isSubtle ? "dim small" : "", dir: "auto" }, ...inlines.map((run) =>
    (run.selectAction ? link(run.selectAction.url, run.text) : run.weight ? el("strong", {}, run.text) : run.text))),
  ActionSet: ({ actions }) => el("p", {}, ...actions.map((action) => fake(action.title))),
};

function teamsMessage(activity) {
  const claims = new Map((activity.entities[0].citation ?? []).map((claim) => [String(claim.position), claim.appearance]));
  const mark = (label) => {
    const claim = claims.get(label);
    return claim ? el("span", { class: "cite", title: `${claim.name}\n${claim.abstract}` }, label) : null;
  };
  const card = (activity.attachments ?? []).flatMap(({ content }) => content.body);
  const usage = activity.entities[0].usageInfo;
  return [
    usage ? el("p", { class: "badge" }, usage.name) : null,
    el("div", { class: "text" }, ...blocks(activity.text, mark)),
    card.length ? el("div", { class: "card" }, ...card.map((block) => TEAMS[block.type](block, mark))) : null,
    claims.size ? el("ol", { class: "claims" }, ...[...claims].map(([number, claim]) => el("li", {},
      el("span", { class: "cite" }, number), " ", claim.url ? link(claim.url, claim.name) : claim.name,
      el("div", { class: "dim small", dir: "auto" }, claim.abstract)))) : null,
    activity.channelData?.feedbackLoop ? el("p", {}, fake("👍"), fake("👎")) : null,
  ];
}
