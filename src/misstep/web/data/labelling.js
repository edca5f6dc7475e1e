// Labels by single keys: a key presses the button that has it as its access key.

import {isForFields} from "./extras.js";

addEventListener("keydown", (event) => {
  if (isForFields(event) || event.repeat || !/^[a-z]$/i.test(event.key)) return;
  document.querySelector(`[accesskey=${event.key.toLowerCase()}]`)?.click();
});
for (const hint of document.querySelectorAll(".keys")) hint.hidden = false;
document.documentElement.dataset.ready = "yes";
