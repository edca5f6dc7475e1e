// What the agent did: its calls one below the other, on a clock where there is one, with arrows beside them.

import {clock, counted, el} from "./dom.js";
import {drawArrows, gutterWidth} from "./arrows.js";

const HOUR = 60;
const EFFECTS = {
  unavailable: "unavailable this time", broken: "out of service", over: "begins again", price: "asked what it costs",
  refused: "refused", never: "never carried out", done: "",
};

/**
 * The calls of a detail. `tie(element, constraints)` is told which constraints an element belongs to, so that all
 * that belongs together can be lit up together.
 */
export function showPlan(detail, tie) {
  const last = Math.max(1, ...detail.calls.map((call) => call.attempt));
  const rows = [];
  const byAction = new Map();
  const list = el("ol", { class: "calls" });
  let attempt = 1, before = 0;
  for (const call of detail.calls) {
    if (call.step > before + 1) list.append(gap(call.step - before - 1));
    if (call.attempt > attempt) list.append(el("li", { class: "attempt" }, `Attempt ${call.attempt}`, call.attempt === last ? " counts" : ""));
    const row = rowOf(detail, call, call.attempt === last);
    attempt = call.attempt;
    before = call.step;
    list.append(row);
    rows.push(row);
    if (call.action && call.attempt === last) byAction.set(call.action, [...(byAction.get(call.action) ?? []), row]);
    tie(row, call.attempt === last ? involved(detail, call.action) : []);
  }
  const rest = detail.left_out - hidden(detail);
  if (rest > 0) list.append(gap(rest));
  if (!detail.calls.length) list.append(el("li", { class: "gap" }, "No tool was called."));
  for (const ghost of missing(detail)) {
    list.append(ghost.row);
    rows.push(ghost.row);
    byAction.set(ghost.action, [ghost.row]);
    tie(ghost.row, involved(detail, ghost.action));
  }
  return framed(detail, list, rows, byAction, tie);
}

/** Calls left out between those that are shown. */
function hidden(detail) {
  let before = 0, count = 0;
  for (const { step } of detail.calls) { count += step - before - 1; before = step; }
  return count;
}

function gap(count) {
  return el("li", { class: "gap" }, `… ${counted(count, "call")} left out`);
}

function involved(detail, action) {
  const own = (constraint) => action && [...constraint.first, ...constraint.then].includes(action);
  return detail.constraints.flatMap((constraint, number) => (own(constraint) ? [number] : []));
}

function missing(detail) {
  return detail.missing.map((id) => {
    const { tool } = detail.actions.find((action) => action.id === id);
    const text = el("div", { class: "what" }, el("code", {}, tool), el("span", { class: "effect" }, "never called"));
    return { action: id, row: el("li", { class: "call ghost" }, el("span", { class: "step" }, "–"), text) };
  });
}

function rowOf(detail, call, counts) {
  const effect = call.note || EFFECTS[call.effect];
  const what = el("div", { class: "what" },
    el("div", { class: "name" }, el("code", {}, call.tool, call.arguments && !detail.day ? el("span", { class: "arguments" }, `(${call.arguments})`) : ""),
      effect ? el("span", { class: "effect" }, effect) : "", call.wrong ? el("span", { class: "flag" }, "misstep") : ""),
    call.wrong ? whyOf(detail) : "",
    worthReading(detail, call) ? el("div", { class: "result" }, call.result) : "");
  const track = detail.day ? trackOf(detail, call, counts) : "";
  return el("li", { class: `call ${call.wrong ? "wrong" : ""} ${counts ? "" : "past"} ${call.start === null ? call.effect : ""}` },
    el("span", { class: "step" }, String(call.step)), what, track);
}

/** A result that says no more than that the call worked is not shown. */
function worthReading(detail, call) {
  const plain = /^The [^.]* has been carried out successfully\.( It took [^.]*\.)?$/;
  return call.result && !plain.test(call.result);
}

/** Which constraint the misstep breaks first. */
function whyOf(detail) {
  const core = detail.constraints.filter((constraint) => constraint.core);
  return core.length ? el("div", { class: "breaks" }, `breaks: ${core.map((each) => each.text).join("; ")}`) : "";
}

/** Where a call lies on the day, and the times that its action has to keep. */
function trackOf(detail, call, counts) {
  const [dawn, dusk] = detail.day;
  const at = (minutes) => `${(100 * (minutes - dawn)) / (dusk - dawn)}%`;
  const track = el("div", { class: "track" });
  if (call.start === null) {
    track.append(el("span", { class: "none" }, call.arguments ? `(${call.arguments})` : ""));
    return track;
  }
  const bar = el("span", { class: "bar" });
  bar.style.left = at(call.start);
  bar.style.width = `${(100 * (call.end - call.start)) / (dusk - dawn)}%`;
  const times = el("span", { class: "times" }, `${clock(call.start)}–${clock(call.end)}`);
  const behind = call.end > (dawn + dusk) / 2;
  times.style.setProperty(behind ? "right" : "left", behind ? `${100 - (100 * (call.start - dawn)) / (dusk - dawn)}%` : at(call.end));
  track.append(bar, times);
  if (counts) track.append(...detail.constraints.filter((each) => each.time !== null && each.then.includes(call.action)).flatMap((each) => limitOf(each, call, at)));
  return track;
}

/** A time to keep; where it is not kept, an arrow from there to where the call began or ended. */
function limitOf(constraint, call, at) {
  const edge = constraint.edge === "start" ? call.start : call.end;
  const mark = el("span", { class: constraint.violated ? "limit broken" : "limit", title: constraint.text });
  mark.style.left = at(constraint.time);
  if (!constraint.violated) return [mark];
  const [low, high] = [Math.min(edge, constraint.time), Math.max(edge, constraint.time)];
  const overrun = el("span", { class: edge > constraint.time ? "overrun late" : "overrun early", title: constraint.text });
  overrun.style.left = at(low);
  overrun.style.width = `calc(${at(high)} - ${at(low)})`;
  return [mark, overrun];
}

function framed(detail, list, rows, byAction, tie) {
  const arrows = arrowsOf(detail, byAction);
  const gutter = el("div", { class: "gutter" });
  const frame = el("div", { class: "plan" }, gutter, list);
  const whole = el("div", { class: detail.day ? "planned timed" : "planned" }, detail.day ? axisOf(detail.day) : "", frame, legend(detail, arrows));
  whole.style.setProperty("--gutter", `${gutterWidth(arrows, rows)}px`);
  for (const { key, group } of drawArrows(frame, gutter, arrows)) tie(group, [key]);
  return whole;
}

function arrowsOf(detail, byAction) {
  const rowsOf = (action) => byAction.get(action) ?? [];
  return detail.constraints.flatMap((constraint, key) => {
    const made = (from, to) => ({ from, to, key, broken: constraint.violated, number: key + 1 });
    const [first, then] = [constraint.first.flatMap(rowsOf), constraint.then.flatMap(rowsOf)];
    if (constraint.kind === "choice") return first.slice(1).map((row) => made(first[0], row));
    if (constraint.kind === "place") return constraint.violated ? [...first.map((row) => made(row, null)), ...then.map((row) => made(null, row))] : [];
    if (!first.length || !then.length) return [];
    return first.at(-1) === then[0] ? [] : [made(first.at(-1), then[0])];
  });
}

function axisOf([dawn, dusk]) {
  const axis = el("div", { class: "axis", "aria-hidden": "true" });
  const step = dusk - dawn > 8 * HOUR ? 2 * HOUR : HOUR;
  for (let time = Math.ceil(dawn / step) * step; time <= dusk; time += step) {
    const tick = el("span", time === dusk ? { class: "end" } : {}, clock(time));
    tick.style.left = `${(100 * (time - dawn)) / (dusk - dawn)}%`;
    axis.append(tick);
  }
  return axis;
}

function legend(detail, arrows) {
  if (!arrows.some((arrow) => arrow.broken)) return "";
  return el("p", { class: "legend" }, "A red arrow goes from what had to come first to what had to come after it.");
}
