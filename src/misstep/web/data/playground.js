// The playground: makes a problem, lets a person call its tools, shows what the judge makes of it.

import {counted, el, grouped, percent} from "./dom.js";
import {changeState, onState, readState} from "./hash.js";
import {showCase} from "./case.js";
import {showTools} from "./tools.js";

const SEEDS = 1_000_000; // a new problem is one of these
const LIKELY = 0.1; // from here on luck is told in percent
const AGAIN = "Put the same problem to an agent";
const DID = { you: "What you did", right: "What gets it right" };

const $ = (id) => document.getElementById(id);
const form = $("wish");
const SIZES = [form.elements.actions.min, form.elements.actions.max]; // of any problem

/** One problem, and what has been done with it. */
class Game {
  problem = null;
  calls = [];
  verdicts = new Map();
  over = false;
  asked = 0;
  work = Promise.resolve();

  /** Take what is wished for, once it is there; what was wished for meanwhile comes instead. */
  async open(wish, step) {
    const asked = ++this.asked;
    $("desk").setAttribute("aria-busy", "true");
    const problem = await this.ask(form.dataset.problem, wish);
    if (asked !== this.asked) return;
    $("desk").removeAttribute("aria-busy");
    if (!problem) return;
    fitForm(problem);
    this.problem = problem;
    this.begin();
    changeState(stateOf(problem.wish), { step });
    say(problem.wish.actions === wish.actions ? `A problem with ${counted(problem.wish.actions, "action")}.` : `Problems like these have ${problem.sizes[0]} to ${problem.sizes[1]} actions.`);
  }

  /** Whether this is what the address says. */
  is(state) {
    return this.problem !== null && Object.entries(stateOf(this.problem.wish)).every(([name, value]) => state[name] === String(value));
  }

  /** Nothing is wished for any longer. */
  forget() {
    this.asked++;
    $("desk").removeAttribute("aria-busy");
  }

  /** The same problem from its beginning. */
  begin() {
    this.calls = [];
    this.verdicts.clear();
    this.over = false;
    $("request").replaceChildren(...requestOf(this.problem.request));
    $("luck").textContent = luckOf(this.problem.chance);
    $("tools").replaceChildren(...showTools(this.problem.tools, (tool, values) => this.call(tool, values)));
    $("log").replaceChildren();
    $("case").replaceChildren();
    $("desk").hidden = $("verdict").hidden = false;
    this.mark();
  }

  repeat() {
    return this.next(async () => {
      this.begin();
      say("From the beginning.");
      $("tools").querySelector("button, input, select").focus();
    });
  }

  /** One call after the other, however fast they are asked for. */
  call(tool, values) {
    return this.next(async (problem) => {
      if (this.over || this.calls.length >= problem.most_calls) return;
      const calls = [...this.calls, { tool, arguments: values }];
      const answer = await this.ask(form.dataset.play, { wish: problem.wish, calls });
      if (!answer || this.problem !== problem) return;
      this.calls = calls;
      $("log").append(entryOf(calls.length, calls.at(-1), answer.results.at(-1)));
      this.mark();
      if (calls.length === problem.most_calls) say(`An agent has ${problem.most_calls} turns as well. Take a call back, or say that you are done.`);
    });
  }

  takeBack() {
    return this.next(async () => {
      const last = this.calls.at(-1);
      if (!last) return;
      this.calls = this.calls.slice(0, -1);
      $("log").lastElementChild.remove();
      say(`Step ${this.calls.length + 1} is taken back: ${last.tool}.`);
      this.resume();
    });
  }

  /** Go on after a verdict. */
  resume() {
    this.over = false;
    this.verdicts.delete("you");
    $("case").replaceChildren();
    this.mark();
  }

  /** Ask for the verdict on whoever has done it, and show it. */
  judge(by) {
    return this.next(async (problem) => {
      const detail = this.verdicts.get(by) ?? (await this.ask(form.dataset.verdict, { wish: problem.wish, by, calls: by === "you" ? this.calls : [] }));
      if (!detail || this.problem !== problem) return;
      this.verdicts.set(by, detail);
      this.over ||= by === "you";
      showCase($("case"), detail, { did: DID[by] ?? `What ${by} did`, again: AGAIN });
      this.mark(by);
      say(`${by === "you" ? "You" : by === "right" ? "A right plan" : by}: ${$("case").querySelector("h2").textContent}`);
      $("case").focus({ preventScroll: true });
      $("verdict").scrollIntoView({ block: "start" });
    });
  }

  /**
   * What the server says to this; what it has against it is told, and then there is nothing. Nothing is said about
   * what somebody wished for earlier.
   */
  async ask(address, body) {
    const { asked } = this;
    const saying = (problem) => (asked === this.asked ? tell(problem) : null);
    let problem = "The server does not answer. Is misstep serve still running?";
    try {
      const answer = await fetch(address, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
      const told = await answer.json();
      if (answer.ok) return saying("") ?? told;
      problem = told.message;
    } catch {
      // nobody there, or no answer of ours
    }
    return saying(problem);
  }

  next(step) {
    this.work = this.work.then(() => this.problem && step(this.problem));
    return this.work;
  }

  /** Show which buttons do something now, which tools have been called, who has been judged. */
  mark(shown = "") {
    const full = this.over || this.calls.length >= this.problem.most_calls;
    for (const card of $("tools").children) {
      card.querySelector("button").disabled = full;
      const steps = this.calls.flatMap((call, place) => (call.tool === card.dataset.tool ? [place + 1] : []));
      card.querySelector(".called").textContent = steps.length ? `step ${steps.join(", ")}` : "";
    }
    $("done").disabled = this.over;
    $("undo").disabled = !this.calls.length;
    for (const button of $("verdict").querySelectorAll("[data-by]")) {
      const verdict = this.verdicts.get(button.dataset.by)?.verdict;
      button.hidden = button.dataset.by === "you" && !verdict;
      button.className = verdict ?? "";
      button.setAttribute("aria-pressed", String(button.dataset.by === shown));
    }
  }
}

/** What is wrong, until something is right again. */
function tell(problem) {
  $("trouble").textContent = problem;
  $("trouble").hidden = !problem;
  return null;
}

function say(text) {
  $("note").textContent = text;
}

/** The paragraphs of a request; on a narrow page the rules at its end can wait. */
function requestOf(parts) {
  const last = parts.findLastIndex(({ told }) => told);
  const shown = parts.map(({ text, told }) => el("p", { class: told ? "told" : "frame" }, text));
  const rules = el("details", { class: "rules", open: matchMedia("(min-width: 861px)").matches }, el("summary", {}, "Further instructions"), shown.slice(last + 1));
  return [...shown.slice(0, last + 1), rules];
}

function entryOf(step, call, result) {
  const given = Object.entries(call.arguments).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(", ");
  return el("li", {}, el("span", { class: "step" }, String(step)),
    el("div", {}, el("code", {}, call.tool, given ? el("span", { class: "given" }, `(${given})`) : ""),
      el("div", { class: result.startsWith("Error") ? "result bad" : "result" }, result)));
}

function luckOf(chance) {
  if (chance === null) return "";
  if (chance === 1) return "Chance level 100 %: any order passes.";
  return chance >= LIKELY ? `Chance level ${percent(chance)}.` : `Chance level: one in ${grouped(Math.round(1 / chance))}.`;
}

/** The wish that the form holds; null where it holds none, which is told. */
function readForm() {
  const family = [...form.querySelectorAll("[name=family]:checked")].map((box) => box.value);
  const seed = form.elements.seed.valueAsNumber;
  if (!family.length) return tell("Choose at least one thing that the problem is about.");
  if (!Number.isSafeInteger(seed) || seed < 0) return tell("A seed is a whole number, 0 or more.");
  return { actions: form.elements.actions.valueAsNumber, family, distractors: form.elements.distractors.valueAsNumber, seed };
}

/** Let the form say what was made, where that is not what was wished for. */
function fitForm({ wish, sizes }) {
  [form.elements.actions.min, form.elements.actions.max] = sizes;
  form.elements.actions.value = wish.actions;
  showNumbers();
}

/** A wish as the address has it. */
function stateOf(wish) {
  return { ...wish, family: wish.family.join(",") };
}

/** Put what the address says into the form, as far as it makes sense. */
function followAddress() {
  const { family, ...numbers } = readState();
  [form.elements.actions.min, form.elements.actions.max] = SIZES;
  for (const name of ["actions", "distractors", "seed"]) {
    if (/^\d{1,16}$/.test(numbers[name] ?? "")) form.elements[name].value = numbers[name];
  }
  const chosen = (family ?? "").split(",");
  const boxes = [...form.querySelectorAll("[name=family]")];
  if (boxes.some((box) => chosen.includes(box.value))) for (const box of boxes) box.checked = chosen.includes(box.value);
  showNumbers();
}

function showNumbers() {
  for (const name of ["actions", "distractors"]) $(`${name}-now`).textContent = form.elements[name].value;
}

function start() {
  const game = new Game();
  const open = (step) => {
    const wish = readForm();
    return wish ? game.open(wish, step) : game.forget();
  };
  const openSeed = (seed) => { form.elements.seed.value = seed; return open(true); };
  form.addEventListener("input", showNumbers);
  form.addEventListener("change", () => open(false));
  form.addEventListener("submit", (event) => { event.preventDefault(); openSeed(Math.floor(Math.random() * SEEDS)); });
  $("done").addEventListener("click", () => game.judge("you"));
  $("undo").addEventListener("click", () => game.takeBack());
  for (const button of document.querySelectorAll("[data-do=next]")) button.addEventListener("click", () => openSeed((form.elements.seed.valueAsNumber || 0) + 1));
  for (const button of document.querySelectorAll("[data-do=again]")) button.addEventListener("click", () => game.repeat());
  for (const button of $("verdict").querySelectorAll("[data-by]")) button.addEventListener("click", () => game.judge(button.dataset.by));
  document.querySelector(".work").addEventListener("keydown", (event) => press(event, game));
  onState((state) => { if (!game.is(state)) { followAddress(); open(false); } });
  followAddress();
  return open(false);
}

/** Keys for those who are in this part of the page: a digit is a tool, Backspace takes back. */
function press(event, game) {
  if (event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
  const card = /^[1-9]$/.test(event.key) ? $("tools").children[event.key - 1] : null;
  if (card) (card.querySelector("input, select") ?? card.querySelector("button")).focus();
  if (card && !card.querySelector("input, select")) card.querySelector("button").click();
  if (event.key === "Backspace") game.takeBack();
  if (card || event.key === "Backspace") event.preventDefault();
}

await start();
document.documentElement.dataset.ready = "yes";
