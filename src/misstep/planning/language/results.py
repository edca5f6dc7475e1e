"""What mock tools answer, in the words of `data/requests.toml`."""

from functools import cache
from string import Formatter

from misstep.planning.language.requests import load_requests


def say(key: str, **slots: object) -> str:
    """The text with this key; its slots are filled in as they are, so figures are written by the caller.

    A `KeyError` tells of a key that doesn't exist, or of slots that are not those of the text.
    """
    text = load_requests().results[key]
    if slots.keys() != _slots(text):
        raise KeyError(f"{key} has the slots {sorted(_slots(text))}, not {sorted(slots)}")
    return text.format(**slots)


@cache
def _slots(text: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(text) if name is not None)
