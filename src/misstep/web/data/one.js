// The page of one case.

import {isForFields, turnBy} from "./extras.js";
import {showCase} from "./case.js";

const place = document.querySelector("[data-source]");
const answer = await fetch(place.dataset.source, { headers: { accept: "application/json" } });
if (answer.ok) showCase(place, await answer.json());
else place.textContent = "The server has no answer: reload the page.";
addEventListener("keydown", (event) => { if (!isForFields(event)) turnBy(event, document); });
document.documentElement.dataset.ready = "yes";
