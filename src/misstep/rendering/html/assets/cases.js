// The list of all cases of a run.

import {el, grouped, inDollars, inSeconds} from "./dom.js";
import {changeState, hashOf, onState, readState} from "./hash.js";
import {keeping} from "./keeping.js";
import {openIndex, select} from "./table.js";
import {makeFilters} from "./filters.js";
import {makeRows} from "./rows.js";
import {makeCharts} from "./charts.js";

const COLUMNS = [
  { name: "verdict", title: "Verdict" },
  { name: "why", title: "Why" },
  { name: "topic", title: "Topic" },
  { name: "actions", title: "Actions", number: grouped },
  { name: "calls", title: "Calls", number: grouped },
  { name: "tokens", title: "Tokens", number: grouped, optional: true },
  { name: "usd", title: "USD", number: inDollars, optional: true },
  { name: "seconds", title: "Time", number: inSeconds },
  { name: "id", title: "Case" },
];

/**
 * Shows the cases of a source below `root`, with folded charts in which a click filters the list.
 *
 * `href(id)` is where a row leads; without it, the state in the address gets the case. What is shown follows the
 * state: q, verdict, error, cause, family, topic, flaky, ranges such as seconds=0.5..2, and sort (- for the largest
 * first). Gives `{table, rows(), refresh(index)}`: the rows that are listed, and a way to show a newer index.
 */
export async function showCases(root, source, { href = (id) => hashOf({ ...readState(), case: id }) } = {}) {
  const place = el("div");
  root.append(place);
  const shown = { table: null, rows: () => [], refresh };
  let built = null;
  let before = null;

  function refresh(index) {
    const restore = keeping(place, (id) => built.focus(id));
    before?.abort();
    before = new AbortController();
    shown.table = openIndex(index);
    built = build(place, shown, href, before.signal);
    built.update(readState());
    restore();
  }

  refresh(await source.index());
  onState((state) => built.update(state));
  return shown;
}

function build(place, shown, href, signal) {
  const { table } = shown;
  const columns = COLUMNS.filter((column) => !column.optional || worth(table, column.name));
  const filters = makeFilters(table);
  const charts = makeCharts(table, signal);
  const list = makeRows((row) => rowOf(table, columns, row, href), signal);
  const heads = headsOf(columns);
  const none = el("p", { class: "none", hidden: true }, "No case matches. ");
  const grid = el("div", { role: "table", class: "list", "aria-label": "Cases" },
    el("div", { role: "rowgroup" }, el("div", { role: "row", class: "row heads" }, heads.map((head) => head.element))),
    list.element);
  grid.style.setProperty("--columns", columns.map(widthOf).join(" "));
  grid.style.setProperty("--narrow", columns.filter((column) => !isSpare(column)).map(widthOf).join(" "));
  place.replaceChildren(filters.element, charts.element, grid, none);
  let before = null;
  const update = (state) => {
    const wanted = hashOf({ ...state, case: "" });
    filters.follow(state, shown.rows().length);
    if (wanted === before) { list.draw(); return; }
    before = wanted;
    const rows = select(table, state);
    shown.rows = () => rows;
    filters.follow(state, rows.length);
    charts.follow(state);
    heads.forEach((head) => head.follow(state.sort ?? ""));
    grid.setAttribute("aria-rowcount", rows.length + 1);
    none.hidden = rows.length > 0;
    grid.hidden = rows.length === 0;
    list.show(rows);
  };
  const focus = (id) => {
    const place = shown.rows().indexOf(table.rowOf(id));
    if (place >= 0) list.focus(place);
  };
  return { update, focus };
}

function worth(table, name) {
  if (!table.has(name)) return false;
  for (let row = 0; row < table.size; row++) if (table.at(name, row)) return true;
  return false;
}

function widthOf({ name }) {
  return { verdict: "7.5rem", id: "7.5rem", topic: "minmax(4rem, 1fr)", why: "minmax(9rem, 4fr)" }[name] ?? "4.2rem";
}

/** Whether it is left out on a narrow page. */
function isSpare({ name, optional }) {
  return optional || name === "topic" || name === "calls";
}

function headsOf(columns) {
  return columns.map(({ name, title, number }) => {
    if (name === "why") return { element: el("span", { role: "columnheader", class: name }, title), follow: () => {} };
    const button = el("button", { type: "button", onclick: () => changeState({ sort: turned(name, number) }) }, title);
    const element = el("span", { role: "columnheader", class: number ? `number ${name}` : name }, button);
    const follow = (sort) => {
      const direction = sort === name ? "ascending" : sort === `-${name}` ? "descending" : "none";
      element.setAttribute("aria-sort", direction);
    };
    return { element, follow };
  });
}

/** The next order of a column: numbers begin with the largest, a third click goes back to the order of the run. */
function turned(name, number) {
  const now = readState().sort ?? "";
  const ways = number ? [`-${name}`, name, ""] : [name, `-${name}`, ""];
  return ways[(ways.indexOf(now) + 1) % ways.length];
}

function rowOf(table, columns, row, href) {
  return el("div", { role: "row", class: "row" }, columns.map((column) => cellOf(table, column, row, href)));
}

function cellOf(table, { name, number }, row, href) {
  const value = table.at(name, row);
  if (number) return el("span", { role: "cell", class: `number ${name}` }, value === null ? "–" : number(value));
  const cell = el("span", { role: "cell", class: name });
  if (name === "verdict") cell.append(badge(value, table.at("error", row)));
  else if (name === "id") cell.append(el("a", { href: href(value) }, value));
  else cell.append(value);
  if (name === "verdict" && table.has("flaky") && table.at("flaky", row)) cell.append(" ", el("span", { class: "tag" }, "flaky"));
  return cell;
}

/** A verdict with the kind of error, in a few words. */
export function badge(verdict, error) {
  return el("span", { class: `badge ${verdict}` }, error || verdict);
}
