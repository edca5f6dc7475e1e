// One case: what was asked, what the agent did, where it went wrong.

import {command, el, grouped, inDollars, inSeconds, percent} from "./dom.js";
import {showPlan} from "./plan.js";

const HEADLINES = {
  passed: "Passed", inconclusive: "Inconclusive", errored: "Errored: not the agent's fault",
  act: "a call that should not have been made", lost: "a required action was never done", parameter: "a wrong value",
  timeout: "not finished in time",
};
const TITLES = { did: "What the agent did", again: "Replay" };
const BREACHES = { before: "the wrong order", adjacent: "the wrong order", place: "the wrong order", time: "the wrong time" };

/**
 * Shows a detail (its form is in report/web/detail.py) in the place of all that is in `root`.
 *
 * Sentences, constraints, calls and arrows that belong together light up together: under the pointer, with the
 * focus, and for good by a click or Enter. `titles` are for calls that no agent of a run has made.
 */
export function showCase(root, detail, titles = TITLES) {
  const ties = new Ties();
  const tie = (element, constraints) => ties.add(element, constraints);
  const parts = [
    verdictOf(detail),
    el("div", { class: "sides" },
      el("section", { class: "asked" }, el("h3", {}, "What was asked"), requestOf(detail, tie), constraintsOf(detail, tie)),
      el("section", { class: "done" }, el("h3", {}, titles.did), showPlan(detail, tie), nearestOf(detail), answerOf(detail))),
    causeOf(detail),
    el("section", { class: "again" }, el("h3", {}, titles.again), command(detail.replay)),
    factsOf(detail),
  ];
  root.replaceChildren(...parts.filter(Boolean));
}

/** Elements by the constraints they belong to. */
class Ties {
  constructor() {
    this.all = [];
    this.pinned = null;
  }

  add(element, constraints) {
    if (!constraints.length) return;
    this.all.push({ element, constraints });
    element.addEventListener("pointerenter", () => this.light(constraints));
    element.addEventListener("pointerleave", () => this.light(this.pinned ?? []));
    element.addEventListener("focusin", () => this.light(constraints));
    element.addEventListener("focusout", () => this.light(this.pinned ?? []));
    element.addEventListener("click", () => this.pin(constraints));
    element.addEventListener("keydown", (event) => {
      if (event.target !== element || (event.key !== "Enter" && event.key !== " ")) return;
      event.preventDefault();
      this.pin(constraints);
    });
  }

  pin(constraints) {
    this.pinned = this.pinned === constraints ? null : constraints;
    for (const { element, constraints: own } of this.all) {
      if (element.hasAttribute("aria-pressed")) element.setAttribute("aria-pressed", String(this.pinned === own));
    }
    this.light(this.pinned ?? []);
  }

  light(lit) {
    for (const { element, constraints } of this.all) {
      element.classList.toggle("lit", constraints.some((number) => lit.includes(number)));
    }
  }
}

function verdictOf(detail) {
  const bad = detail.verdict === "failed";
  const where = detail.step ? ` at step ${detail.step}` : "";
  const core = detail.constraints.find((constraint) => constraint.core);
  const title = bad ? `Failed${where}: ${HEADLINES[detail.error] ?? BREACHES[core?.kind] ?? "a demand was not met"}` : HEADLINES[detail.verdict];
  const said = detail.explanation || (detail.verdict === "passed" ? "Every call fits what was asked." : "");
  return el("section", { class: `headline ${detail.verdict}` }, el("h2", {}, title), el("p", {}, said),
    detail.traceback ? el("details", { class: "traceback" }, el("summary", {}, "Traceback"), el("pre", {}, detail.traceback)) : "");
}

function requestOf(detail, tie) {
  const pieces = detail.request;
  const said = pieces.map((piece) => piece.sentence !== null);
  const [first, last] = [said.indexOf(true), said.lastIndexOf(true)];
  if (first < 0) return el("div", { class: "request" }, el("p", { class: "whole" }, pieces.map((piece) => piece.text).join("")));
  const before = pieces.slice(0, first).map((piece) => piece.text.trim());
  const middle = pieces.slice(first, last + 1).map((piece) => (piece.sentence === null ? piece.text : sentenceOf(detail, piece, tie)));
  const after = pieces.slice(last + 1).map((piece) => piece.text).join("").trim();
  const announced = detail.sentences.flatMap((_, number) => (pieces.some((piece) => piece.sentence === number) ? [] : [number]));
  return el("div", { class: "request" },
    before.map((text) => el("p", { class: "frame" }, text)),
    el("p", { class: "sentences" }, middle),
    announced.map((number) => el("p", { class: "sentences" }, el("span", { class: "frame" }, "Told by a tool: "), sentenceOf(detail, { text: detail.sentences[number].text, sentence: number }, tie))),
    after ? el("details", { class: "rules" }, el("summary", {}, "Further instructions"), el("p", { class: "frame whole" }, after)) : "");
}

function sentenceOf(detail, { text, sentence }, tie) {
  const numbers = detail.sentences[sentence].constraints;
  if (!numbers.length) return el("span", { class: "sentence" }, text);
  const broken = numbers.some((number) => detail.constraints[number].violated);
  const span = el("span", { class: broken ? "sentence broken" : "sentence", tabindex: "0", role: "button", "aria-pressed": "false" }, text,
    numbers.map((number) => el("sup", { class: detail.constraints[number].violated ? "bad" : "" }, String(number + 1))));
  tie(span, numbers);
  return span;
}

function constraintsOf(detail, tie) {
  if (!detail.constraints.length) return "";
  const items = detail.constraints.map((constraint, number) => {
    const mark = constraint.violated ? "✗" : "✓";
    const item = el("li", { class: constraint.violated ? "constraint broken" : "constraint", tabindex: "0", role: "button", "aria-pressed": "false" },
      el("span", { class: "number" }, String(number + 1)), el("span", { class: "text" }, constraint.text),
      el("span", { class: "mark", "aria-label": constraint.violated ? "broken" : "kept" }, detail.verdict === "errored" ? "" : mark));
    tie(item, [number]);
    return el("li", { role: "none" }, item).firstChild;
  });
  return [el("h3", {}, "Constraints"), el("ul", { class: "constraints", role: "list" }, items)];
}

function nearestOf(detail) {
  if (!detail.nearest.length) return "";
  const order = detail.calls.filter((call) => call.action).map((call) => call.action);
  const stays = longestKept(detail.nearest.map((each) => each.action), order);
  const items = detail.nearest.map(({ action, tool }) => el("li", { class: stays.has(action) ? "" : "moved" }, el("code", {}, tool)));
  return el("div", { class: "nearest" }, el("h3", {}, "The nearest correct plan"), el("ol", {}, items),
    el("p", { class: "legend" }, "Marked actions have to move."));
}

/** The most actions that can stay in the order that they are in. */
function longestKept(wanted, order) {
  const last = new Map(order.map((action, place) => [action, place]));
  const places = wanted.map((action) => last.get(action) ?? -1);
  const best = places.map(() => ({ length: 0, before: -1 }));
  let end = -1;
  places.forEach((place, at) => {
    if (place < 0) return;
    best[at] = { length: 1, before: -1 };
    for (let other = 0; other < at; other++) {
      if (places[other] >= 0 && places[other] < place && best[other].length + 1 > best[at].length) best[at] = { length: best[other].length + 1, before: other };
    }
    if (end < 0 || best[at].length > best[end].length) end = at;
  });
  const kept = new Set();
  for (let at = end; at >= 0; at = best[at].before) kept.add(wanted[at]);
  return kept;
}

function answerOf(detail) {
  return detail.answer ? el("div", { class: "answer" }, el("h3", {}, "Agent’s answer"), el("blockquote", {}, detail.answer)) : "";
}

function causeOf({ cause }) {
  if (!cause) return null;
  const sure = cause.sure ? `, ${cause.sure} sure` : "";
  return el("section", { class: "cause" }, el("h3", {}, "Why it fails"),
    el("p", {}, el("b", {}, `${cause.name}${sure}`), cause.guilty ? `: ${cause.guilty}` : ""), el("p", { class: "dim" }, cause.evidence));
}

function factsOf(detail) {
  const facts = [
    ["case", detail.id], ["topic", detail.topic], ["seed", String(detail.seed)],
    ["chance", detail.chance === null ? null : `${percent(detail.chance)} of all orders are right`],
    ["baselines", detail.baselines && Object.entries(detail.baselines).map(([name, passes]) => `${name} ${passes ? "passes" : "fails"}`).join(", ")],
    ["took", detail.seconds === null ? null : inSeconds(detail.seconds)],
    ["tokens", detail.tokens ? grouped(detail.tokens) : null],
    ["cost", detail.usd ? `${inDollars(detail.usd)} USD` : null],
  ];
  return el("dl", { class: "facts" }, facts.filter(([, value]) => value).map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}
