// The page of a run: its list of cases, and one of them when the address names it.

import {el} from "./dom.js";
import {changeState, hashOf, onState, readState} from "./hash.js";
import {heldBy, servedAt} from "./source.js";
import {openIndex} from "./table.js";
import {showCases} from "./cases.js";
import {showCase} from "./case.js";
import {addCopyButtons, addSearchBoxes, isForFields, turnBy} from "./extras.js";

/**
 * Brings a page to life. Where there is `#cases`, all cases are listed there; with `data-base` they come from a
 * server, which also gives the run's address, otherwise from the page itself. `[data-case]` shows that one case.
 * `page(id)` is the address of a case by itself, where it has one. Gives the list, if there is one.
 */
export async function start({ page = null } = {}) {
  addCopyButtons(document);
  addSearchBoxes(document);
  const root = document.getElementById("cases");
  const list = root ? await showAll(root, page) : null;
  document.documentElement.dataset.ready = "yes";
  return list;
}

async function showAll(root, own) {
  const source = root.dataset.base ? servedAt(root.dataset.base) : heldBy(document);
  for (const place of document.querySelectorAll("[data-case]")) {
    const detail = await source.detail(place.dataset.case);
    if (detail) showCase(place, detail);
  }
  const list = root.dataset.listed === "no" ? await unlisted(source) : await showCases(root, source);
  const page = document.getElementById("report");
  const place = el("article", { class: "case", id: "case", tabindex: "-1", hidden: true });
  page.after(place);
  const reader = new Reader(page, place, source, list, own);
  onState((state) => reader.follow(state));
  addEventListener("keydown", (event) => reader.key(event));
  await reader.follow(readState());
  return list;
}

/** Cases that other parts of the page lead to. */
async function unlisted(source) {
  const table = openIndex(await source.index());
  const rows = Array.from({ length: table.size }, (_, row) => row);
  return { table, rows: () => rows };
}

/** Shows one case in the place of the page, and the page again as it was. */
class Reader {
  constructor(page, place, source, list, own) {
    Object.assign(this, { page, place, source, list, own, shown: null, scrolled: 0 });
  }

  async follow({ case: id }) {
    if ((id ?? null) === this.shown) return;
    if (!this.shown) this.scrolled = scrollY;
    const before = this.shown;
    this.shown = id ?? null;
    if (id) await this.open(id);
    else this.close(before);
  }

  async open(id) {
    const body = el("div", { class: "body" });
    const detail = await this.source.detail(id);
    if (this.shown !== id) return;
    if (detail) showCase(body, detail);
    else body.append(el("p", {}, this.absent(id)));
    this.place.replaceChildren(this.bar(id), body);
    this.page.hidden = true;
    this.place.hidden = false;
    scrollTo(0, 0);
    this.place.focus({ preventScroll: true });
  }

  close(before) {
    this.place.hidden = true;
    this.page.hidden = false;
    dispatchEvent(new Event("resize"));
    scrollTo(0, this.scrolled);
    requestAnimationFrame(() => requestAnimationFrame(() => this.focusRow(before)));
  }

  focusRow(id) {
    const link = [...document.querySelectorAll(".rows a")].find((each) => each.textContent === id);
    link?.focus({ preventScroll: true });
  }

  absent(id) {
    if (this.list.table.rowOf(id) < 0) return "There is no such case in this run.";
    return "This file has no details of this case, to limit its size. misstep serve shows all cases.";
  }

  bar(id) {
    const { table } = this.list;
    const rows = this.list.rows();
    const place = rows.indexOf(table.rowOf(id));
    const link = (row, text, key) => row === undefined || place < 0
      ? el("span", { class: "off" }, text)
      : el("a", { href: hashOf({ ...readState(), case: table.at("id", row) }), rel: key }, text);
    return el("nav", { class: "crumbs", "aria-label": "Cases" },
      el("a", { href: hashOf({ ...readState(), case: "" }), class: "back" }, "← Back"),
      el("span", { class: "where" }, el("code", {}, id), place < 0 ? "" : ` ${place + 1} of ${rows.length}`),
      this.own ? el("a", { href: this.own(id) }, "Own page") : "",
      el("span", { class: "turn" }, link(rows[place - 1], "Previous", "prev"), link(rows[place + 1], "Next", "next")));
  }

  key(event) {
    if (isForFields(event)) return;
    if (!this.shown) {
      if (event.key === "/") { event.preventDefault(); document.getElementById("search")?.focus(); }
      return;
    }
    if (event.key === "Escape") changeState({ case: "" });
    turnBy(event, this.place);
  }
}
