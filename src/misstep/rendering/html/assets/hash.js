// What is looked at, kept behind the # of the address: it can be shared, and the back button goes back to it.

const heard = new Set();

/** The state as an object of texts. */
export function readState() {
  return Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
}

/** The address of a state; what is empty is left out. */
export function hashOf(state) {
  const kept = Object.entries(state).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return `#${new URLSearchParams(kept)}`;
}

/** Change parts of the state. A step can be taken back with the back button; what is merely typed is no step. */
export function changeState(changes, { step = true } = {}) {
  const next = hashOf({ ...readState(), ...changes });
  if (next === hashOf(readState())) return;
  history[step ? "pushState" : "replaceState"](null, "", next);
  tell();
}

/** Call whenever the state has changed, whoever changed it. */
export function onState(listener) {
  heard.add(listener);
}

function tell() {
  for (const listener of heard) listener(readState());
}

addEventListener("popstate", tell);
