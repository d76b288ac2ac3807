// "Why this answer?": the steps of a turn as a timeline.
import { call, el, say } from "./dom.js";
import { showDialog } from "./dialog.js";

export async function why(turn) {
  try {
    const explanation = await call(`/api/turns/${turn}/explanation`);
    const total = Math.max(explanation.total_ms, 1);
    showDialog("Why this answer?",
      el("p", {}, `“${explanation.question}” was answered in ${milliseconds(explanation.total_ms)}.`),
      el("ol", { class: "timeline" }, ...explanation.steps.map((step) => el("li", {},
        el("h3", {}, step.title, el("span", {}, milliseconds(step.ms) + tokens(step))),
        bar(step.start_ms / total, step.ms / total),
        ...step.lines.map((line) => el("p", { dir: "auto" }, line)),
        step.note ? el("p", { class: "dim" }, step.note) : null))));
  } catch (error) {
    say("status", error.message, { error: true });
  }
}

function milliseconds(ms) {
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

const tokens = (step) => (step.input_tokens + step.output_tokens
  ? ` · ${step.input_tokens} + ${step.output_tokens} tokens` : "");

function bar(start, width) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const rect = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  svg.setAttribute("aria-hidden", "true");
  const wide = Math.max(width * 100, 0.5);
  const left = Math.min(start * 100, 100 - wide);
  for (const [key, value] of Object.entries({ x: `${left}%`, width: `${wide}%`, height: "6" })) {
    rect.setAttribute(key, value);
  }
  svg.append(rect);
  return svg;
}
