// What somebody is at, kept while a part of the page is made anew.

/**
 * Remembers what has the focus below `root`, what is unfolded there, and how far the page is scrolled. What it gives is to
 * be called once the place has been filled anew; `focusRow(id)` puts the focus on a row that may have moved.
 */
export function keeping(root, focusRow) {
  const focused = root.contains(document.activeElement) ? document.activeElement : null;
  const open = new Set([...root.querySelectorAll("details[open] > summary")].map((each) => each.textContent));
  const row = focused?.closest("[data-place]") ? focused.textContent : null;
  const typed = focused?.matches("input") ? caretOf(focused) : null;
  const name = focused && nameOf(focused);
  const scrolled = scrollY;
  root.style.minHeight = `${root.offsetHeight}px`; // else the page gets short for a moment, and is scrolled up
  return () => {
    for (const summary of root.querySelectorAll("details > summary")) summary.parentElement.open ||= open.has(summary.textContent);
    if (row) focusRow(row);
    else if (name) restore([...root.querySelectorAll(focused.tagName)].find((each) => nameOf(each) === name), typed);
    root.style.minHeight = "";
    scrollTo(0, scrolled);
  };
}

function nameOf(element) {
  return element.id || element.getAttribute("aria-label") || element.parentElement.textContent;
}

function caretOf({ value, selectionStart, selectionEnd }) {
  return { value, selectionStart, selectionEnd };
}

function restore(element, typed) {
  element?.focus({ preventScroll: true });
  if (!element || !typed) return;
  element.value = typed.value;
  if (typed.selectionStart !== null) element.setSelectionRange(typed.selectionStart, typed.selectionEnd);
}
