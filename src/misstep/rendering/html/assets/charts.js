// Charts of where cases fail; a click on a bar filters the list of cases.

import {counted, el, grouped, inDollars, inSeconds} from "./dom.js";
import {changeState, readState} from "./hash.js";
import {tally} from "./table.js";

const MOST = 10; // bars in a figure
const BINS = 8;
const BAR = 26; // pixels
const FIGURES = [
  { by: "error", title: "What goes wrong", note: "failed cases by kind of error" },
  { by: "cause", title: "Why", note: "failures looked into, by cause" },
  { by: "family", title: "By family", note: "failed and all cases", rate: true },
  { by: "topic", title: "By topic", note: "failed and all cases, most failures first", rate: true },
  { by: "actions", title: "By number of actions", note: "failed and all cases", rate: true, range: true },
  { by: "seconds", title: "How long cases take", note: "failed and all cases", bins: inSeconds },
  { by: "usd", title: "What cases cost, in USD", note: "failed and all cases", bins: inDollars },
];

/** The figures that there is something to say in; `follow(state)` marks what is picked. */
export function makeCharts(table, signal) {
  const figures = FIGURES.map((figure) => ({ ...figure, bars: barsOf(table, figure) })).filter(({ bars, by }) => bars.length > (by === "error" || by === "cause" ? 0 : 1));
  const frame = el("div", { class: "figures" });
  const element = el("details", { class: "charts", hidden: !globalThis.echarts || !figures.length }, el("summary", {}, "Charts"), frame);
  if (element.hidden) return { element, follow: () => {} };
  const charts = figures.map((figure) => chartOf(frame, figure, signal));
  const redraw = () => { if (element.open || matchMedia("print").matches) charts.forEach((chart) => chart.draw()); };
  element.addEventListener("toggle", redraw, { signal });
  for (const query of ["(prefers-color-scheme: dark)", "print"]) matchMedia(query).addEventListener("change", redraw, { signal });
  const watch = new ResizeObserver(redraw);
  watch.observe(frame);
  signal.addEventListener("abort", () => { watch.disconnect(); charts.forEach((chart) => chart.end()); });
  return { element, follow: redraw };
}

function barsOf(table, figure) {
  if (!table.has(figure.by)) return [];
  if (figure.bins) return binsOf(table, figure);
  const counts = tally(table, figure.by);
  const kept = figure.range ? counts.sort((a, b) => a.value - b.value) : counts.slice(0, MOST);
  return kept.map(({ value, cases, failed }) => ({
    name: String(value), cases, failed: figure.rate ? failed : cases, pick: figure.range ? `${value}..${value}` : String(value),
  }));
}

/** Numbers of any size in bins that grow with them, so that a few slow cases don't hide all the others. */
function binsOf(table, { by, bins }) {
  const values = Array.from({ length: table.size }, (_, row) => table.at(by, row) ?? 0);
  const [low, high] = [Math.min(...sample(values)), Math.max(...sample(values))];
  if (!(high > low)) return [];
  const floor = Math.max(low, high / 1e4);
  const steps = Array.from({ length: BINS + 1 }, (_, place) => Number((floor * (high / floor) ** (place / BINS)).toPrecision(2)));
  const edges = [...new Set(steps)];
  const count = edges.slice(1).map(() => ({ cases: 0, failed: 0 }));
  values.forEach((value, row) => {
    let place = edges.findIndex((edge, at) => at > 0 && value <= edge) - 1;
    if (place < 0) place = value <= edges[0] ? 0 : count.length - 1;
    count[place].cases += 1;
    count[place].failed += table.at("verdict", row) === "failed";
  });
  const last = count.length - 1;
  return count.map((each, place) => ({
    ...each, name: `≤ ${bins(edges[place + 1])}`, pick: `${place ? edges[place] : ""}..${place === last ? "" : edges[place + 1]}`,
  })).filter(({ cases }) => cases);
}

/** Few enough values to be arguments of a function; the ends are those of all. */
function sample(values) {
  return [values.reduce((a, b) => Math.min(a, b), Infinity), values.reduce((a, b) => Math.max(a, b), -Infinity)];
}

function chartOf(parent, figure, signal) {
  const height = figure.bars.length * BAR + 8;
  const canvas = el("div", { class: "canvas", role: "img", "aria-label": inWords(figure) });
  canvas.style.height = `${height}px`;
  parent.append(el("figure", {}, el("figcaption", {}, el("b", {}, figure.title), el("span", {}, figure.note)), canvas));
  let chart = null;
  const draw = () => {
    if (!canvas.clientWidth) return;
    chart ??= begin(canvas, figure);
    chart.resize({ height });
    chart.setOption(optionsOf(figure), true);
  };
  return { draw, end: () => chart?.dispose() };
}

function begin(canvas, figure) {
  const chart = echarts.init(canvas, null, { renderer: "canvas" });
  chart.on("click", ({ dataIndex }) => pick(figure, figure.bars[dataIndex]));
  return chart;
}

function pick({ by }, { pick: value }) {
  changeState({ [by]: readState()[by] === value ? "" : value });
}

function inWords({ title, note, bars, rate, bins }) {
  const each = bars.map(({ name, cases, failed }) => `${name}: ${rate || bins ? `${failed} of ${cases}` : counted(cases, "case")}`);
  return `${title}, ${note}. ${each.join("; ")}`;
}

function optionsOf(figure) {
  const { bars, by } = figure;
  const colour = colours();
  const chosen = readState()[by];
  const faint = (bar) => (chosen && bar.pick !== chosen ? 0.3 : 1);
  const series = (name, value, of, last) => ({
    name, type: "bar", stack: "all", barWidth: 12, cursor: "pointer", emphasis: { disabled: true },
    data: bars.map((bar) => ({ value: value(bar), itemStyle: { color: of, opacity: faint(bar), borderRadius: 2 } })),
    label: last ? { show: true, position: "right", color: colour.dim, fontSize: 12, formatter: ({ dataIndex }) => totals(figure, bars[dataIndex]) } : undefined,
  });
  return {
    animation: false,
    grid: { left: 4, right: 84, top: 2, bottom: 2, containLabel: true },
    xAxis: { type: "value", show: false, max: "dataMax" },
    yAxis: {
      type: "category", inverse: true, data: bars.map(({ name }) => name), triggerEvent: true,
      axisLine: { show: false }, axisTick: { show: false },
      axisLabel: { color: colour.ink, fontSize: 12, width: 130, overflow: "truncate", interval: 0 },
    },
    series: [
      series("failed", (bar) => bar.failed, colour.bad, false),
      series("others", (bar) => bar.cases - bar.failed, colour.line, true),
    ],
  };
}

function totals({ rate, bins }, { cases, failed }) {
  if (!rate && !bins) return grouped(cases);
  return failed ? `${grouped(failed)} of ${grouped(cases)}` : grouped(cases);
}

function colours() {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(["ink", "dim", "bad", "line"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
}
