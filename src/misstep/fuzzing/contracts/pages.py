"""Results in pages: together they hold what one large page holds, each thing once."""

import json
from collections.abc import Sequence
from typing import Any

from misstep.core.tool import Described, Reaction
from misstep.fuzzing.contracts.promises import sentence_with
from misstep.fuzzing.contracts.steps import Breach, Experiments, Step, Toolkit, call_of, parameters

_SIZES = ("limit", "page_size", "per_page", "pagesize", "perpage", "max_results", "count", "size")
_OFFSETS = ("offset", "skip", "start", "from")
_NUMBERS = ("page", "page_number")
WHOLE, PAGE, PAGES = 50, 2, 4


def experiments(kit: Toolkit) -> Experiments:
    for name, described in kit.tools.items():
        size, start, _ = _paging(described)
        for calls in list(kit.accepted.get(name, ()))[:2] if size else ():
            base = json.loads(calls[-1].arguments)
            for first in (0, 1) if start in _NUMBERS else (0,):
                step = 1 if start in _NUMBERS else PAGE
                pages = [{**base, size: PAGE, start: first + step * page} for page in range(PAGES)]
                whole = {**base, size: WHOLE, start: first}
                yield (*calls[:-1], *(call_of(name, each) for each in (whole, *pages)))


def _paging(described: Described) -> tuple[str, str, str]:
    """The parameters for the size of a page and for its start, and the sentence that names one of them."""
    known = {name.lower(): name for name, schema in parameters(described).items() if "integer" in str(schema)}
    size = next((known[name] for name in _SIZES if name in known), "")
    start = next((known[name] for name in (*_OFFSETS, *_NUMBERS) if name in known), "")
    words = sentence_with(described, r"\b(?:pages?|pagina\w*|limit|offset|per page|at a time)\b")
    return (size, start, words) if size and start and words else ("", "", "")


def find_breach(steps: Sequence[Step]) -> Breach | None:
    run = steps[-1 - PAGES :]
    if len(run) <= PAGES or len({step.name for step in run}) > 1 or not all(step.is_fine for step in run):
        return None
    described = run[-1].tool
    size, start, words = _paging(described)
    if not size or any(step.arguments.get(size) != PAGE for step in run[1:]):
        return None
    starts = [each for step in run if isinstance(each := step.arguments.get(start), int)]
    if len(starts) < len(run) or starts[1:] != sorted(set(starts[1:])):
        return None
    whole, *pages = (_items(step.reaction) for step in run)
    if whole is None or any(page is None or len(page) > PAGE for page in pages) or len(whole) <= PAGE:
        return None
    joined = [item for page in pages for item in page or ()]
    expected = whole[: PAGE * PAGES]
    if joined == expected or len({*expected}) < len(expected):
        return None
    missing, twice = [each for each in expected if each not in joined], len(joined) - len({*joined})
    what = f"{len(missing)} of {len(expected)} are missing" if missing else f"{twice} come twice"
    if not missing and not twice:
        what = "the order differs"
    effect = f"in pages of {PAGE}, compared with one page of {WHOLE}, {what}"
    return Breach("pages", described.name, words, effect)


def _items(reaction: Reaction) -> list[str] | None:
    """The things on a page: the members of the only list in a JSON result, else its lines."""
    for source in (reaction.structured, reaction.text):
        try:
            found = _lists(json.loads(source or ""))
        except (ValueError, RecursionError):
            continue
        return [json.dumps(each, sort_keys=True) for each in found[0]] if len(found) == 1 else None
    return [line for line in reaction.text.splitlines() if line.strip()]


def _lists(value: Any) -> list[list[Any]]:
    match value:
        case list():
            return [value]
        case dict():
            return [found for each in value.values() for found in _lists(each)]
    return []
