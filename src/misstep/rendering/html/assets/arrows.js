// Arrows beside the rows of a plan: between which calls a constraint holds, and where it is broken.

import {shape} from "./dom.js";

const LANE = 18; // pixels from one arrow to the next
const NEAR = 12; // from the rows to the nearest
const MOST = 5; // lanes side by side; beyond that they share one

/**
 * Draws the arrows `[{from, to, key, broken, number}]` between row elements (`null` is the top, or the end) into
 * `gutter`, the column left of the rows in `frame`, and again whenever rows move. Gives the shapes by key.
 */
export function drawArrows(frame, gutter, arrows) {
  const drawing = shape("svg", { class: "arrows", "aria-hidden": "true" });
  gutter.append(drawing);
  const shapes = arrows.map((arrow) => ({ ...arrow, ...shapesOf(arrow) }));
  drawing.append(...shapes.filter((each) => !each.broken).map((each) => each.group), ...shapes.filter((each) => each.broken).map((each) => each.group));
  const lay = () => layOut(frame, gutter, drawing, shapes);
  new ResizeObserver(lay).observe(frame);
  return shapes.map(({ key, group }) => ({ key, group }));
}

function shapesOf({ broken, number }) {
  const line = shape("path", { class: "line" });
  const head = shape("path", { class: "head" });
  const disc = shape("circle", { r: 9 });
  const label = shape("text", { "text-anchor": "middle", dy: "0.34em" }, String(number));
  const group = shape("g", { class: broken ? "arrow broken" : "arrow" }, line, head, disc, label);
  return { group, line, head, disc, label };
}

function layOut(frame, gutter, drawing, shapes) {
  const { top, height: end } = frame.getBoundingClientRect();
  const width = gutter.getBoundingClientRect().width;
  drawing.setAttribute("width", width);
  drawing.setAttribute("height", end);
  const middle = (row, without) => {
    if (!row) return without;
    const box = row.getBoundingClientRect();
    return box.top - top + Math.min(box.height, 36) / 2;
  };
  const spans = shapes.map((each) => [middle(each.from, end), middle(each.to, 0)]);
  const lanes = lanesOf(spans, shapes);
  const ends = spread(spans);
  shapes.forEach((each, place) => {
    const [a, b] = ends[place];
    const x = Math.max(10, width - NEAR - LANE * (lanes[place] + 1));
    draw(each, x, a, b, width - 3);
  });
}

function draw({ line, head, disc, label }, x, a, b, edge) {
  const bend = Math.sign(b - a) * Math.min(6, Math.abs(b - a) / 2);
  line.setAttribute("d", `M${edge} ${a} H${x + 6} Q${x} ${a} ${x} ${a + bend} V${b - bend} Q${x} ${b} ${x + 6} ${b} H${edge - 4}`);
  head.setAttribute("d", `M${edge} ${b} l-8 -4.5 v9 z`);
  for (const [name, value] of [["cx", x], ["cy", (a + b) / 2]]) disc.setAttribute(name, value);
  for (const [name, value] of [["x", x], ["y", (a + b) / 2]]) label.setAttribute(name, value);
}

/** Where several arrows meet at a row, they leave and arrive a little apart, the way they go: up above, down below. */
function spread(spans) {
  const meeting = new Map();
  spans.forEach((span, place) => span.forEach((y, side) => {
    meeting.set(y, [...(meeting.get(y) ?? []), { place, side, other: span[1 - side] }]);
  }));
  const ends = spans.map((span) => [...span]);
  for (const [y, all] of meeting) {
    const [above, below] = [all.filter((one) => one.other < y), all.filter((one) => one.other >= y)];
    // Of those that go the same way, the one that goes farthest is outside, and so meets the row nearest to its middle.
    above.sort((one, two) => two.other - one.other);
    below.sort((one, two) => two.other - one.other);
    const order = [...above, ...below];
    const apart = Math.min(7, 28 / order.length);
    order.forEach((one, number) => (ends[one.place][one.side] = y + apart * (number - (order.length - 1) / 2)));
  }
  return ends;
}

/** The nearest lane in which an arrow crosses no other: what is broken is nearest to the rows, then what is short. */
function lanesOf(spans, arrows) {
  const lanes = new Array(spans.length).fill(0);
  const rank = (place) => (arrows[place].broken ? 0 : 1e6) + Math.abs(spans[place][0] - spans[place][1]);
  const order = spans.map((_, place) => place).sort((a, b) => rank(a) - rank(b));
  const taken = [];
  for (const place of order) {
    const [low, high] = [Math.min(...spans[place]), Math.max(...spans[place])];
    let lane = 0;
    while ((taken[lane] ?? []).some(([from, to]) => low < to && high > from)) lane += 1;
    (taken[lane] ??= []).push([low, high]);
    lanes[place] = lane;
  }
  return lanes;
}

/** How wide the gutter has to be for so many arrows side by side. */
export function gutterWidth(arrows, rows) {
  const places = arrows.map(({ from, to }) => [from ? rows.indexOf(from) : rows.length, to ? rows.indexOf(to) : -1]);
  const most = Math.min(MOST, Math.max(-1, ...lanesOf(places, arrows)));
  return most < 0 ? 0 : NEAR + LANE * (most + 1) + 12;
}
