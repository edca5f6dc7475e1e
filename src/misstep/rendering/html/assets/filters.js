// The filters of the list of cases: a text, values of facets, ranges of numbers.

import {counted, el, grouped} from "./dom.js";
import {changeState} from "./hash.js";
import {FACETS, tally} from "./table.js";

const FIRST = ["verdict", "error"]; // facets that are not folded away
const NUMBERS = { seconds: "Seconds", usd: "Cost in USD", tokens: "Tokens" };

/** The controls; `follow(state, found)` makes them show a state and how many cases it leaves. */
export function makeFilters(table) {
  const search = el("input", {
    type: "search", id: "search", placeholder: "Search id, topic, kind, explanation", "aria-label": "Search cases",
    oninput: () => changeState({ q: search.value }, { step: false }),
  });
  const facets = Object.keys(FACETS).filter((facet) => table.has(facet)).map((facet) => facetOf(table, facet));
  const shown = (isFirst) => facets.filter((each) => each.divides && FIRST.includes(each.facet) === isFirst).map((each) => each.element);
  const ranges = Object.keys(NUMBERS).filter((column) => varies(table, column)).map(rangeFields);
  const flaky = table.has("flaky") ? flakyBox() : null;
  const clear = el("button", { type: "button", class: "quiet", onclick: () => changeState(nothing()) }, "Clear all");
  const said = el("p", { class: "said", role: "status" });
  const rest = [...shown(false), ...ranges.map((each) => each.element), flaky?.element].filter(Boolean);
  const more = rest.length ? el("details", { class: "ranges" }, el("summary", {}, "More filters"), el("div", { class: "fields" }, rest)) : null;
  const element = el("form", { class: "filters", role: "search", onsubmit: (event) => event.preventDefault() },
    search, shown(true), more, el("div", { class: "outcome" }, said, clear));
  const follow = (state, found) => {
    if (search.value !== (state.q ?? "")) search.value = state.q ?? "";
    for (const each of [...facets, ...ranges, ...(flaky ? [flaky] : [])]) each.follow(state);
    if (more?.querySelector(".set")) more.open = true;
    clear.hidden = !Object.keys(nothing()).some((key) => state[key]);
    said.textContent = found === table.size ? counted(found, "case") : `${grouped(found)} of ${counted(table.size, "case")}`;
  };
  return { element, follow };
}

function nothing() {
  const all = ["q", "flaky", "actions", "calls", ...Object.keys(FACETS), ...Object.keys(NUMBERS)];
  return Object.fromEntries(all.map((key) => [key, ""]));
}

function facetOf(table, facet) {
  const counts = tally(table, facet).sort((a, b) => b.cases - a.cases);
  const options = counts.map(({ value, cases }) => el("option", { value }, `${value} (${grouped(cases)})`));
  const select = el("select", { "aria-label": FACETS[facet], onchange: () => changeState({ [facet]: select.value }) }, el("option", { value: "" }, "any"), options);
  const label = el("label", { class: "field" }, el("span", {}, FACETS[facet]), select);
  const follow = (state) => {
    select.value = state[facet] ?? "";
    label.classList.toggle("set", Boolean(state[facet]));
  };
  const divides = counts.length > 1 || (counts.length === 1 && counts[0].cases < table.size);
  return { facet, element: label, divides, follow };
}

function varies(table, column) {
  if (!table.has(column)) return false;
  for (let row = 1; row < table.size; row++) if (table.at(column, row) !== table.at(column, 0)) return true;
  return false;
}

function rangeFields(column) {
  const write = () => changeState({ [column]: low.value || high.value ? `${low.value}..${high.value}` : "" });
  const field = (name) => el("input", { type: "number", min: "0", step: "any", "aria-label": `${NUMBERS[column]}, ${name}`, placeholder: name, onchange: write });
  const [low, high] = [field("from"), field("to")];
  const element = el("div", { class: "field", role: "group", "aria-label": NUMBERS[column] }, el("span", {}, NUMBERS[column]), el("span", { class: "pair" }, low, high));
  const follow = (state) => {
    const [from, to] = (state[column] ?? "").split("..");
    low.value = from ?? "";
    high.value = to ?? "";
    element.classList.toggle("set", Boolean(state[column]));
  };
  return { element, follow };
}

function flakyBox() {
  const box = el("input", { type: "checkbox", onchange: () => changeState({ flaky: box.checked ? "1" : "" }) });
  const element = el("label", { class: "field check" }, box, el("span", {}, "Flaky only"));
  return { element, follow: (state) => (box.checked = Boolean(state.flaky)) };
}
