// An unfinished run: its progress, and a page that is kept up to date without disturbing its reader.

import {el, grouped} from "./dom.js";
import {addCopyButtons, addSearchBoxes} from "./extras.js";

const SOONEST = 2_000; // milliseconds from one look at what is new to the next
const SHARE = 20; // of the time that a look takes, for whatever else there is to do
const CHOOSING = 5_000; // milliseconds for which nobody takes away what somebody chooses from
const ANNOUNCED = 15_000; // milliseconds between what is read out

/**
 * Shows in `place` what the server tells of the run, from the address in its `data-events`, and keeps the page with its
 * `list` of cases up to date. Nothing is asked for while nobody looks.
 */
export function follow(place, list) {
  const shown = partsOf(place);
  const page = new Page(list, Number(place.dataset.done));
  let source = null, over = false;

  function listen() {
    if (over || source || document.hidden) return;
    source = new EventSource(place.dataset.events);
    source.addEventListener("progress", ({ data }) => { const told = JSON.parse(data); shown.tell(told); page.reach(told.done); });
    source.addEventListener("trouble", ({ data }) => shown.say(JSON.parse(data).said));
    source.addEventListener("done", () => { over = true; stop(); page.end(); });
    source.addEventListener("error", () => shown.say(source?.readyState === EventSource.CLOSED ? "The server has stopped: reload the page." : "Waiting for the server …"));
  }

  function stop() {
    source?.close();
    source = null;
  }

  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : listen()));
  addEventListener("pagehide", stop);
  addEventListener("pageshow", listen);
  listen();
}

/** Findings, sets and tasks below `root` get links to their own pages, which only a server has. */
export function addPartLinks(root) {
  for (const entry of root.querySelectorAll("[data-part]")) {
    const link = el("a", { class: "own", href: `${location.pathname.replace(/\/$/, "")}/${entry.dataset.part}` }, "Own page");
    (entry.querySelector("summary") ?? entry).append(" ", link);
  }
}

function partsOf(place) {
  const [bar, state, spoken] = ["progress", ".state", "[role=status]"].map((name) => place.querySelector(name));
  const unit = place.dataset.unit;
  let announced = -Infinity;

  function tell(told) {
    const { done, total, finished, live } = told;
    if (total) { bar.max = total; bar.value = done; }
    else if (finished) { bar.max = 1; bar.value = 1; }
    const far = `${grouped(done)}${total ? ` of ${grouped(total)}` : ""} ${unit}`;
    const name = finished ? "Finished" : live ? "Running" : "Stopped";
    state.replaceChildren(el("b", {}, name), ` ${[far, told.rate, told.left, told.spent].filter(Boolean).join(" · ")}`);
    place.querySelector(".resume").hidden = finished || live;
    place.querySelector(".stop")?.toggleAttribute("hidden", finished || !live);
    announce(`${name}: ${far}.`, finished);
  }

  function announce(text, now) {
    if (!now && performance.now() - announced < ANNOUNCED) return;
    announced = performance.now();
    if (spoken.textContent !== text) spoken.textContent = text;
  }

  return { tell, say: (text) => state.replaceChildren(text) };
}

/** The page below, made when so many were done: its figures and its list are fetched anew as long as there are more. */
class Page {
  constructor(list, done) {
    Object.assign(this, { list, done, stale: false, over: false, busy: false, ready: 0, choosing: -Infinity });
    this.timer = setInterval(() => this.keepUp(), 500);
    for (const kind of ["pointerdown", "keydown"]) document.addEventListener(kind, ({ target }) => { if (target.closest?.("select")) this.choosing = performance.now(); });
  }

  reach(done) {
    this.stale ||= done !== this.done;
    this.done = done;
  }

  end() {
    Object.assign(this, { over: true, stale: true, ready: 0 });
    this.keepUp();
  }

  async keepUp() {
    const began = performance.now();
    if (!this.stale || this.busy || document.hidden || began < this.ready || began - this.choosing < CHOOSING || isRead()) return;
    Object.assign(this, { busy: true, stale: false });
    try {
      await this.renew();
    } catch {
      this.stale = true; // the server is away
    }
    this.busy = false;
    this.ready = performance.now() + Math.max(SOONEST, SHARE * (performance.now() - began));
    if (this.over && !this.stale) clearInterval(this.timer);
  }

  async renew() {
    const base = document.getElementById("cases")?.dataset.base;
    if (base && this.list) this.list.refresh(await get(`${base}/cases.json`, (answer) => answer.json()));
    const page = await get(location.pathname, (answer) => answer.text());
    this.stale ||= !renewParts(new DOMParser().parseFromString(page, "text/html"));
  }
}

/** Whether somebody reads a case in the place of the page. */
function isRead() {
  return document.getElementById("report").hidden;
}

async function get(address, read) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address} answered with ${answer.status}`);
  return read(answer);
}

/** Puts the parts of a newer page in the place of those here, unless somebody is in them; the list stays. */
function renewParts(newer) {
  const frame = document.getElementById("parts");
  const kept = (part) => part.querySelector("#cases") !== null;
  const old = [...frame.children].filter((part) => !kept(part));
  if (old.some((part) => part.contains(document.activeElement))) return false;
  const open = new Set(old.flatMap((part) => [...part.querySelectorAll("details[open] > summary")].map((each) => each.textContent)));
  const all = [...newer.getElementById("parts").children];
  const before = all.findIndex(kept); // -1 if the page has no list
  const fresh = all.filter((part) => !kept(part)).map((part) => document.adoptNode(part));
  for (const part of fresh) {
    for (const summary of part.querySelectorAll("details > summary")) summary.parentElement.open = open.has(summary.textContent);
    addCopyButtons(part);
    addSearchBoxes(part);
    addPartLinks(part);
  }
  const list = [...frame.children].find(kept) ?? null;
  const from = scrollY, height = frame.offsetHeight;
  old.forEach((part) => part.remove());
  fresh.forEach((part, place) => frame.insertBefore(part, place < before ? list : null));
  if (list && list.getBoundingClientRect().top < 0) scrollTo(0, from + frame.offsetHeight - height);
  return true;
}
