// The tools of a problem as buttons, with fields for what they take.

import {el} from "./dom.js";

const KEYS = 9; // digits to press
const LONGEST = 200; // characters, as many as the server takes
const TIME = /^(\d{1,2}):?(\d{2})?$/; // 9, 930 and 9:30 will do
const HTML = { number: { type: "number", step: "1" }, time: { type: "text", pattern: TIME.source.slice(1, -1), placeholder: "HH:MM", inputmode: "numeric" }, text: { type: "text", maxlength: LONGEST } };

/** A card for each tool, in their order; `onCall(name, values)` hears of calls. */
export function showTools(tools, onCall) {
  return tools.map((tool, place) => cardOf(tool, place + 1, onCall));
}

function cardOf(tool, number, onCall) {
  const fields = tool.fields.map((field, place) => fieldOf(field, `${number}-${place}`));
  const key = number <= KEYS ? String(number) : null;
  const card = el("form", { class: fields.length ? "tool wide" : "tool", "data-tool": tool.name, onsubmit: (event) => {
    event.preventDefault();
    onCall(tool.name, valuesOf(tool.fields, card));
  } },
  fields,
  el("button", { type: "submit", title: tool.about, "aria-keyshortcuts": key },
    key ? el("kbd", { "aria-hidden": "true" }, key) : "", el("span", { class: "name" }, breakable(tool.name)), el("span", { class: "called" })));
  return card;
}

function fieldOf(field, id) {
  const about = { id: `field-${id}`, name: field.name, required: true, title: field.about };
  const input = field.kind === "choice"
    ? el("select", about, field.choices.map((choice) => el("option", { value: choice }, choice)))
    : el("input", { ...about, ...HTML[field.kind], autocomplete: "off" });
  return el("label", { class: "field", for: about.id }, field.name.replaceAll("_", " "), input);
}

/** A name that may go on in the next line after each of its words. */
function breakable(name) {
  return name.split(/(?<=_)/).flatMap((word) => [word, el("wbr")]);
}

function valuesOf(fields, card) {
  return Object.fromEntries(fields.map(({ name, kind }) => {
    const input = card.elements[name];
    if (kind === "time") input.value = inFull(input.value);
    return [name, kind === "number" ? Number(input.value) : input.value];
  }));
}

function inFull(time) {
  const [, hour, minutes] = TIME.exec(time) ?? [];
  return hour ? `${hour.padStart(2, "0")}:${minutes ?? "00"}` : time;
}
