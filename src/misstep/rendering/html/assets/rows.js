// The rows of the list. Only those that can be seen exist, so that a list of very many stays quick.

import {el} from "./dom.js";

const BEYOND = 12; // rows that are made above and below those that can be seen
const PRINTED = 200;

/** Shows `rows` by `make(row)`; all are as high as `--row` says. Arrow keys go from one to the next. */
export function makeRows(make, signal) {
  const body = el("div", { role: "rowgroup", class: "rows", onkeydown: (event) => step(event) });
  const made = new Map();
  let rows = [], height = 44, printing = false, waiting = false;

  function show(next) {
    rows = next;
    made.clear();
    body.replaceChildren();
    draw();
  }

  function draw() {
    waiting = false;
    height = parseFloat(getComputedStyle(body).getPropertyValue("--row")) || height;
    const count = printing ? Math.min(rows.length, PRINTED) : rows.length;
    body.style.height = `${count * height}px`;
    const [first, last] = printing ? [0, count] : seen(count);
    for (const [place, node] of made) {
      if (place < first || place >= last) { node.remove(); made.delete(place); }
    }
    for (let place = first; place < last; place++) put(place);
  }

  function put(place) {
    let node = made.get(place);
    if (!node) {
      node = make(rows[place]);
      node.setAttribute("aria-rowindex", place + 2);
      node.dataset.place = place;
      made.set(place, node);
      const after = [...body.children].find((each) => Number(each.dataset.place) > place);
      body.insertBefore(node, after ?? null);
    }
    node.style.transform = `translateY(${place * height}px)`;
    return node;
  }

  function seen(count) {
    const top = -body.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / height) - BEYOND);
    const last = Math.max(2 * BEYOND, Math.ceil((top + innerHeight) / height) + BEYOND);
    return [Math.min(first, count), Math.min(count, last)];
  }

  function later() {
    if (!waiting) requestAnimationFrame(draw);
    waiting = true;
  }

  function step(event) {
    const here = Number(event.target.closest("[data-place]")?.dataset.place);
    const page = Math.max(1, Math.floor(innerHeight / height) - 4);
    const way = { ArrowDown: here + 1, ArrowUp: here - 1, PageDown: here + page, PageUp: here - page, Home: 0, End: rows.length - 1 };
    if (Number.isNaN(here) || !(event.key in way)) return;
    event.preventDefault();
    focus(Math.max(0, Math.min(rows.length - 1, way[event.key])));
  }

  function focus(place) {
    const node = put(place);
    node.querySelector("a")?.focus({ preventScroll: true });
    node.scrollIntoView({ block: "nearest" });
  }

  const forPrint = (is) => () => { printing = is; draw(); };
  addEventListener("scroll", later, { passive: true, signal });
  addEventListener("resize", later, { signal });
  addEventListener("beforeprint", forPrint(true), { signal });
  addEventListener("afterprint", forPrint(false), { signal });
  return { element: body, show, draw, focus };
}
