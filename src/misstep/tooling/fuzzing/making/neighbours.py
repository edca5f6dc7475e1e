"""Arguments that a schema just doesn't allow, next to those that it does."""

from collections.abc import Iterator
from typing import Any

from misstep.tooling.fuzzing.idea import Idea
from misstep.tooling.fuzzing.subject import Parameter, Subject

_CHOICES = 2  # listed values that others are made of
_STEPS = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
_STRANGERS: tuple[Any, ...] = (None, "", 0, -1, [], {}, True)


def neighbours(subject: Subject) -> Iterator[Idea]:
    """Simple arguments with one parameter that is missing, or wrong in one of the ways that come to mind."""
    for parameter in subject.parameters:
        rest = {name: value for name, value in subject.simple.items() if name != parameter.name}
        wrong = [rest, *({**rest, parameter.name: value} for value in _beside(parameter))]
        for arguments in wrong:
            if misfit := subject.misfit(arguments):
                # None of them may be left out because few calls have been made that fit.
                yield Idea(((subject.name, arguments),), "neighbour", broken=misfit, again=True)


def _beside(parameter: Parameter) -> Iterator[Any]:
    """Values close to those of a parameter; some of them may be among them."""
    for choice in parameter.choices[:_CHOICES]:
        if isinstance(choice, str):
            yield from (choice.swapcase(), f"{choice}x")
        elif isinstance(choice, int):
            yield from (choice + 1, choice - 1)
    for keyword, step in _STEPS.items():
        bound = parameter.schema.get(keyword)
        if isinstance(bound, int | float):
            yield bound + step
    yield from _STRANGERS
