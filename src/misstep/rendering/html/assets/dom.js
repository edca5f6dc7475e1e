// Elements, made without markup: whatever is put into one is text.

const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes and children; `onclick` and the like are functions, empty attributes are left out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for a shape in a drawing. */
export function shape(name, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, name), attributes, children);
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(2).filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** A number as people write it. */
export function grouped(number) {
  return Number(number).toLocaleString("en");
}

/** `one` of something, or several: its plural takes an s. */
export function counted(number, one) {
  return `${grouped(number)} ${one}${number === 1 ? "" : "s"}`;
}

export function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

export function inSeconds(seconds) {
  if (seconds >= 100) return `${grouped(Math.round(seconds))} s`;
  return seconds >= 1 ? `${seconds.toFixed(1)} s` : `${Math.round(1000 * seconds)} ms`;
}

export function inDollars(usd) {
  return usd === 0 ? "0" : usd >= 0.01 ? usd.toFixed(2) : usd.toPrecision(2);
}

/** Minutes since midnight as a time of day. */
export function clock(minutes) {
  const two = (number) => String(number).padStart(2, "0");
  return `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

/** A command that can be copied. */
export function command(text) {
  const button = el("button", { type: "button", class: "copy", onclick: () => copy(text, button) }, "Copy");
  return el("div", { class: "command" }, el("code", {}, text), button);
}

/** Puts a text on the clipboard and says so on the button for a while. */
export async function copy(text, button) {
  const done = await written(text);
  button.textContent = done ? "Copied" : "Press Ctrl+C";
  setTimeout(() => (button.textContent = "Copy"), 1500);
}

async function written(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
