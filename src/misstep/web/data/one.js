// The page of one case, or of another part of a run.

import {addCopyButtons, isForFields, turnBy} from "./extras.js";
import {showCase} from "./case.js";

addCopyButtons(document);
const place = document.querySelector("[data-source]");
if (place) await load(place);
addEventListener("keydown", (event) => { if (!isForFields(event)) turnBy(event, document); });
document.documentElement.dataset.ready = "yes";

async function load(place) {
  const answer = await fetch(place.dataset.source, { headers: { accept: "application/json" } });
  if (answer.ok) showCase(place, await answer.json());
  else place.textContent = "The server has no answer: reload the page.";
}
