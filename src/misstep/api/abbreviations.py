"""What a run holds, by the beginning of its id."""

from collections.abc import Mapping
from typing import TypeVar

from misstep.errors import UsageError
from misstep.store.runs import Run, Store

T = TypeVar("T")


def meant_by(wanted: str, known: Mapping[str, T], what: str, run: Run, store: Store) -> T:
    """The only one of the known whose id begins so; a `UsageError` where there is none, or several."""
    found = [each for id, each in known.items() if wanted and id.startswith(wanted)]
    if len(found) != 1:
        problem = f"could be any of several {what}s" if found else f"is no {what}"
        hint = f"misstep show {run.id} lists them"
        raise UsageError(f"'{wanted}' {problem} of run {run.id}", hint, where=store.location)
    return found[0]
