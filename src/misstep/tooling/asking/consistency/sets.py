"""Requests that mean the same, out of a template and words that mean the same."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import lcm

PLACEHOLDER = re.compile(r"\[([^\[\]]*)\]")


def placeholders_in(template: str) -> tuple[str, ...]:
    """The words in square brackets, in their order, each as often as it is there."""
    return tuple(name.strip() for name in PLACEHOLDER.findall(template))


def fill_template(template: str, infills: Mapping[str, Sequence[str]], count: int) -> tuple[str, ...]:
    """Up to so many different requests, the same ones each time, every infill in about as many of them."""
    names = list(dict.fromkeys(placeholders_in(template)))
    requests = dict[str, None]()
    for choice in _choices([len(infills[name]) for name in names]):
        if len(requests) >= count:
            break
        words = {name: infills[name][at] for name, at in zip(names, choice, strict=True)}
        requests[_filled(template, words)] = None
    return tuple(requests)


def _filled(template: str, words: Mapping[str, str]) -> str:
    return PLACEHOLDER.sub(lambda match: words[match[1].strip()], template)


def _choices(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Every way to choose one of each, in an order that uses all of them evenly from the start.

    Going one further in all lists at once is as even as can be, and comes back to its start after all lists
    have ended together. The next such round begins at the first choice that has not been made.
    """
    made = set[tuple[int, ...]]()
    for start in product(*(range(size) for size in sizes)):
        if start in made:
            continue
        for step in range(lcm(*sizes)):
            choice = tuple((at + step) % size for at, size in zip(start, sizes, strict=True))
            made.add(choice)
            yield choice
