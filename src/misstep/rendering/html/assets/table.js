// The index of all cases as a table that can be filtered, sorted and counted. Its form is in report/web/index.py.

/** Facets whose values can be picked, with the words for them. */
export const FACETS = { verdict: "Verdict", error: "Kind", cause: "Cause", family: "Family", topic: "Topic" };
/** Columns of numbers, within which a range can be picked. */
export const RANGES = ["seconds", "usd", "tokens", "calls", "actions"];

/** Rows by number, columns by name. */
export function openIndex(index) {
  const texts = new Array(index.id.length);
  const table = {
    size: index.id.length,
    kept: index.kept,
    has: (column) => Boolean(index[column]),
    /** The value in a column; of a family it is the list of all of them. */
    at(column, row) {
      const values = index[column];
      if (!values) return null;
      return values.words ? values.words[values.of[row]] : values[row];
    },
    /** All that is looked through for a text. */
    text(row) {
      return (texts[row] ??= [
        index.id[row], this.at("verdict", row), this.at("error", row), this.at("cause", row) ?? "",
        this.at("topic", row), this.at("family", row).join(" "), index.why[row],
      ].join(" ").toLowerCase());
    },
    rowOf: (id) => index.id.indexOf(id),
  };
  return table;
}

/** The numbers of the rows that fit a state, in the order that it asks for. */
export function select(table, state) {
  const tests = testsOf(table, state);
  const rows = [];
  for (let row = 0; row < table.size; row++) {
    if (tests.every((test) => test(row))) rows.push(row);
  }
  return sorted(table, rows, state.sort ?? "");
}

function testsOf(table, state) {
  const tests = [];
  for (const facet of Object.keys(FACETS)) {
    if (!state[facet] || !table.has(facet)) continue;
    const wanted = state[facet];
    tests.push((row) => [table.at(facet, row)].flat().includes(wanted));
  }
  for (const column of RANGES) {
    if (!state[column] || !table.has(column)) continue;
    const [low, high] = rangeOf(state[column]);
    tests.push((row) => table.at(column, row) >= low && table.at(column, row) <= high);
  }
  if (state.flaky && table.has("flaky")) tests.push((row) => Boolean(table.at("flaky", row)));
  for (const word of (state.q ?? "").toLowerCase().split(/\s+/).filter(Boolean)) {
    tests.push((row) => table.text(row).includes(word));
  }
  return tests;
}

/** The ends of a range such as `0.5..2`, `..2` or `0.5..`. */
export function rangeOf(text) {
  const [low, high] = String(text).split("..");
  return [low ? Number(low) : -Infinity, high ? Number(high) : Infinity];
}

function sorted(table, rows, order) {
  const column = order.replace(/^-/, "");
  if (!column || !table.has(column)) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  const keys = rows.map((row) => [table.at(column, row)].flat().join(" "));
  const numbers = rows.map((row) => table.at(column, row));
  const numeric = typeof numbers[0] === "number";
  const places = rows.map((_, place) => place);
  places.sort((a, b) => {
    const less = numeric ? numbers[a] - numbers[b] : keys[a] < keys[b] ? -1 : keys[a] > keys[b] ? 1 : 0;
    return sign * less || a - b;
  });
  return places.map((place) => rows[place]);
}

/** How many cases have each value of a facet, and how many of those failed, those with most failures first. */
export function tally(table, facet) {
  const found = new Map();
  for (let row = 0; row < table.size; row++) {
    const failed = table.at("verdict", row) === "failed";
    for (const value of [table.at(facet, row)].flat()) {
      const count = found.get(value) ?? { value, cases: 0, failed: 0 };
      count.cases += 1;
      count.failed += failed;
      found.set(value, count);
    }
  }
  const order = (a, b) => b.failed - a.failed || b.cases - a.cases || (String(a.value) < String(b.value) ? -1 : 1);
  return [...found.values()].filter((count) => count.value !== "").sort(order);
}
