// Small comforts for what a page shows without scripts as well: commands to copy, long lists to search, keys to turn.

import {copy, el} from "./dom.js";

const LONG = 8; // entries, from which on a list gets a box to search it

/** Every command below `root` gets a button. */
export function addCopyButtons(root) {
  for (const pre of root.querySelectorAll("pre.command")) {
    const text = pre.textContent;
    const button = el("button", { type: "button", class: "copy", onclick: () => copy(text, button) }, "Copy");
    pre.append(button);
  }
}

/** Every long list of things that unfold gets a box to search it. */
export function addSearchBoxes(root) {
  for (const section of root.querySelectorAll("section")) {
    const entries = [...section.children].filter((child) => child.tagName === "DETAILS");
    if (entries.length >= LONG) entries[0].before(boxFor(entries));
  }
}

/** Whether a key is meant for something else than the page: a field, or the browser. */
export function isForFields(event) {
  return event.altKey || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
}

/** Keys that lead to what is before and behind: the links below `root` that say so are taken. */
export function turnBy(event, root) {
  const turn = { ArrowLeft: "prev", ArrowRight: "next", k: "prev", j: "next" }[event.key];
  if (turn) root.querySelector(`a[rel=${turn}]`)?.click();
}

function boxFor(entries) {
  const texts = entries.map((entry) => entry.textContent.toLowerCase());
  const said = el("span", { class: "said", role: "status" }, `${entries.length} in all`);
  const input = el("input", { type: "search", placeholder: "Search", "aria-label": "Search this list" });
  input.addEventListener("input", () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    entries.forEach((entry, place) => {
      entry.hidden = !words.every((word) => texts[place].includes(word));
      found += !entry.hidden;
    });
    said.textContent = words.length ? `${found} of ${entries.length}` : `${entries.length} in all`;
  });
  return el("div", { class: "searchbox" }, input, said);
}
