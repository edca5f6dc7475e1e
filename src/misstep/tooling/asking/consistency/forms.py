"""What models answer about sets of requests, read strictly."""

import re
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from misstep.core.forms import Complaint, read_form
from misstep.core.words import cut
from misstep.tooling.asking.consistency.sets import placeholders_in

MOST_TEMPLATE = 4_000  # characters
MOST_INFILL = 1_000
MOST_INFILLS = 100  # for one placeholder
MOST_SAID = 20_000
SHOWN = 100  # characters of what a complaint is about

T = TypeVar("T")
Read: TypeAlias = Callable[[str], T | Complaint]
Infills: TypeAlias = dict[str, tuple[str, ...]]

_PLAIN_WORDS = re.compile(r"[^\W\d_][\w -]*")
_Infill = Annotated[str, Meta(max_length=MOST_INFILL)]
_Said = Annotated[str, Meta(min_length=1, max_length=MOST_SAID)]


class _Templates(msgspec.Struct, frozen=True):
    templates: tuple[Annotated[str, Meta(max_length=MOST_TEMPLATE)], ...]


class _Infills(msgspec.Struct, frozen=True):
    infills: dict[str, Annotated[tuple[_Infill, ...], Meta(max_length=MOST_INFILLS)]]


class _Requests(msgspec.Struct, frozen=True):
    requests: tuple[Annotated[str, Meta(max_length=MOST_SAID)], ...]


class _Answer(msgspec.Struct, frozen=True):
    answer: _Said


class _Statement(msgspec.Struct, frozen=True):
    statement: _Said


class Scored(msgspec.Struct, frozen=True):
    reason: _Said
    score: Annotated[int, Meta(ge=1, le=10)]


class Correctness(msgspec.Struct, frozen=True):
    reason: _Said
    correct: bool


def alike(text: str) -> str:
    """What texts have in common that differ in case and white space only."""
    return " ".join(text.casefold().split())


def templates_reader(count: int, used: Collection[str] = ()) -> Read[tuple[str, ...]]:
    """Reads up to so many templates, none of which is among those used before."""
    before = {alike(each) for each in used}

    def read(text: str) -> tuple[str, ...] | Complaint:
        form = read_form(text, _Templates)
        if isinstance(form, Complaint):
            return form
        templates = tuple(map(_tidy, form.templates))
        wrong = [said for each in templates if (said := _wrong_with(each))]
        wrong += [f"{_shown(each)} is there twice." for each in _repeated(templates)]
        wrong += [f"{_shown(each)} was used before." for each in templates if alike(each) in before]
        if not templates:
            wrong.append("There are no templates.")
        return Complaint(" ".join(wrong)) if wrong else templates[:count]

    return read


def infills_reader(template: str, used: Collection[str] = ()) -> Read[Infills]:
    """Reads two infills or more for each placeholder of a template, none of them used before."""
    names = placeholders_in(template)
    before = {alike(each) for each in used}

    def read(text: str) -> Infills | Complaint:
        form = read_form(text, _Infills)
        if isinstance(form, Complaint):
            return form
        infills = {name.strip(" []"): tuple(map(_tidy, each)) for name, each in form.infills.items()}
        wrong = [f"There are no infills for [{name}]." for name in names if name not in infills]
        wrong += [f"The template has no {_shown(f'[{name}]')}." for name in infills if name not in names]
        for name in infills:
            wrong += _wrong_with_infills(name, infills[name], before)
        return Complaint(" ".join(wrong)) if wrong else {name: infills[name] for name in names}

    return read


def same_number_reader(count: int) -> Read[tuple[str, ...]]:
    """Reads exactly so many requests, all different."""

    def read(text: str) -> tuple[str, ...] | Complaint:
        form = read_form(text, _Requests)
        if isinstance(form, Complaint):
            return form
        requests = tuple(map(_tidy, form.requests))
        wrong = [f"{_shown(each)} is there twice." for each in _repeated(requests)]
        if len(requests) != count:
            wrong.append(f"There are {len(requests)} messages; there have to be {count}, in the same order.")
        if not all(requests):
            wrong.append("A message is empty.")
        return Complaint(" ".join(wrong)) if wrong else requests

    return read


def read_answer(text: str) -> str | Complaint:
    form = read_form(text, _Answer)
    return form if isinstance(form, Complaint) else _not_empty(form.answer)


def read_statement(text: str) -> str | Complaint:
    form = read_form(text, _Statement)
    return form if isinstance(form, Complaint) else _not_empty(form.statement)


def read_score(text: str) -> Scored | Complaint:
    form = read_form(text, Scored)
    return form if isinstance(form, Complaint) else Scored(_tidy(form.reason), form.score)


def read_correctness(text: str) -> Correctness | Complaint:
    form = read_form(text, Correctness)
    return form if isinstance(form, Complaint) else Correctness(_tidy(form.reason), form.correct)


def _wrong_with(template: str) -> str:
    names = placeholders_in(template)
    if not names:
        return f"{_shown(template)} has no placeholder in square brackets."
    if odd := [name for name in names if not _PLAIN_WORDS.fullmatch(name)]:
        return f"{_shown(f'[{odd[0]}]')} is no placeholder: plain words stand between the brackets."
    if _repeated(names):
        return f"{_shown(template)} has the same placeholder twice: give each a word of its own."
    return ""


def _wrong_with_infills(name: str, infills: Sequence[str], before: Collection[str]) -> list[str]:
    wrong = [f"{_shown(each)} is there twice for {_shown(f'[{name}]')}." for each in _repeated(infills)]
    wrong += [f"{_shown(each)} was used before." for each in infills if alike(each) in before]
    if not all(infills):
        wrong.append(f"An infill for {_shown(f'[{name}]')} is empty.")
    if len({alike(each) for each in infills}) < 2:
        wrong.append(f"{_shown(f'[{name}]')} needs two different infills or more.")
    return wrong


def _repeated(texts: Sequence[str]) -> list[str]:
    """The texts that are alike one before them."""
    keys = [alike(text) for text in texts]
    return [text for at, text in enumerate(texts) if keys[at] and keys[at] in keys[:at]]


def _not_empty(text: str) -> str | Complaint:
    return _tidy(text) or Complaint("The text in the JSON object is empty.")


def _tidy(text: str) -> str:
    """The text as it can be stored everywhere."""
    return text.replace("\0", "\ufffd").strip()


def _shown(text: str) -> str:
    return f"'{cut(text, SHOWN)}'"
