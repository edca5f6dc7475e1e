"""Makes sets of paraphrased requests with a model; has the schemas for what models answer about them."""

import re
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from itertools import product
from math import lcm
from typing import Annotated, TypeAlias

import msgspec
from msgspec import Meta, structs

from misstep.core.model import Unusable, fenced
from misstep.core.results.consistency import CHECKS, Check, PromptSet
from misstep.core.text import quoted, tidy
from misstep.core.tool import Described
from misstep.errors import UsageError
from misstep.fuzzing.agent_tests.parties import Models, told
from misstep.fuzzing.agent_tests.prompts import documentation_of, listed
from misstep.fuzzing.consistency.buckets import Normalise
from misstep.schemas.answers import AnswerSchema, FormatError, form_of, texts

PLACEHOLDER = re.compile(r"\[([^\[\]]*)\]")


def placeholders_in(template: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in PLACEHOLDER.findall(template))


def fill_template(template: str, infills: Mapping[str, Sequence[str]], count: int) -> tuple[str, ...]:
    """Up to `count` different requests. Deterministic, and each infill is used about equally often."""
    names = list(dict.fromkeys(placeholders_in(template)))
    requests = dict[str, None]()
    for choice in _choices([len(infills[name]) for name in names]):
        if len(requests) >= count:
            break
        words = {name: infills[name][at] for name, at in zip(names, choice, strict=True)}
        parts = PLACEHOLDER.split(template)  # every second one is a name
        parts[1::2] = [words[name.strip()] for name in parts[1::2]]
        requests["".join(parts)] = None
    return tuple(requests)


def _choices(sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """All combinations of one item per list, in an order that uses the items evenly from the start.

    Each step advances in all lists at once, which returns to the start after the least common multiple of the
    sizes. The next round starts at the first combination that is still missing.
    """
    made = set[tuple[int, ...]]()
    for start in product(*(range(size) for size in sizes)):
        if start in made:
            continue
        for step in range(lcm(*sizes)):
            choice = tuple((at + step) % size for at, size in zip(start, sizes, strict=True))
            made.add(choice)
            yield choice


MOST_TEMPLATE = 4_000  # characters
MOST_INFILL = 1_000
MOST_INFILLS = 100  # for one placeholder
MOST_SAID = 20_000

Infills: TypeAlias = dict[str, tuple[str, ...]]

# The pattern a model is constrained to. Every part is bounded, so that a grammar made from it terminates.
TEMPLATE = r"^[^\[\]{}]{1,200}(\[[a-z]{1,30}( [a-z]{1,30})?\][^\[\]{}]{1,200}){1,3}$"
_PLAIN_WORDS = re.compile(r"[^\W\d_][\w -]*")
_Said = Annotated[str, Meta(min_length=1, max_length=MOST_SAID)]


class _Templates(msgspec.Struct, frozen=True):
    templates: tuple[str, ...]


class _Infills(msgspec.Struct, frozen=True):
    infills: dict[str, Annotated[tuple[str, ...], Meta(max_length=MOST_INFILLS)]]


class _Requests(msgspec.Struct, frozen=True):
    requests: tuple[str, ...]


class Same(msgspec.Struct, frozen=True):
    """The numbers of the messages, from 1, that don't mean the same as the others."""

    reason: _Said
    different: Annotated[tuple[int, ...], Meta(max_length=MOST_INFILLS)]


class Predicted(msgspec.Struct, frozen=True):
    """What a tool would answer; `guess` if that cannot be known from the request."""

    answer: _Said
    guess: bool = False


class _Statement(msgspec.Struct, frozen=True):
    statement: _Said


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """A score for an answer; `guess` if only a guess speaks against the answer."""

    reason: _Said
    guess: bool = False
    score: Annotated[int, Meta(ge=1, le=10)]


class Declined(msgspec.Struct, frozen=True):
    declined: bool
    quote: Annotated[str, Meta(max_length=MOST_SAID)]


class Correctness(msgspec.Struct, frozen=True):
    reason: _Said
    correct: bool


def alike(text: str) -> str:
    """A key that is equal for texts that differ only in case and white space."""
    return " ".join(text.casefold().split())


def templates_form(count: int, used: Collection[str] = ()) -> AnswerSchema[tuple[str, ...]]:
    """A schema for up to `count` templates, none of them in `used`."""
    before = {alike(each) for each in used}

    def make(form: _Templates) -> tuple[str, ...] | FormatError:
        templates = tuple(map(tidy, form.templates))
        wrong = [said for each in templates if (said := _wrong_with(each))]
        wrong += [f"{quoted(each)} appears twice." for each in _repeated(templates)]
        wrong += [f"{quoted(each)} was used before." for each in templates if alike(each) in before]
        if not templates:
            wrong.append("There are no templates.")
        good = [each for each in _fresh(templates, MOST_TEMPLATE, before) if not _wrong_with(each)]
        return FormatError(" ".join(wrong), tuple(good[:count]) or None) if wrong else templates[:count]

    return form_of(_Templates, templates=texts(1, count, TEMPLATE)).then(make)


def infills_form(template: str, count: int, used: Collection[str] = ()) -> AnswerSchema[Infills]:
    """A schema for up to `count` infills per placeholder, at least two for one of them, none in `used`."""
    names = placeholders_in(template)
    before = {alike(each) for each in used}

    def make(form: _Infills) -> Infills | FormatError:
        infills = {name.strip(" []"): tuple(map(tidy, each)) for name, each in form.infills.items()}
        wrong = [f"There are no infills for [{name}]." for name in names if name not in infills]
        wrong += [f"The template has no {quoted(f'[{name}]')}." for name in infills if name not in names]
        for name in infills:
            wrong += _wrong_with_infills(name, infills[name], before)
        good = {name: _fresh(infills.get(name, ()), MOST_INFILL, before) for name in names}
        if not wrong and not _has_paraphrases(good):
            wrong.append("At least one placeholder needs two different infills or more.")
        return FormatError(" ".join(wrong), good if _has_paraphrases(good) else None) if wrong else good

    each = {name: texts(1, max(count, 2)) for name in names}
    schema = {"type": "object", "properties": each, "required": list(names), "additionalProperties": False}
    return form_of(_Infills, infills=schema).then(make)


def same_number_form(count: int) -> AnswerSchema[tuple[str, ...]]:
    """A schema for exactly `count` different requests. Two usable ones are enough as a last resort."""

    def make(form: _Requests) -> tuple[str, ...] | FormatError:
        requests = tuple(map(tidy, form.requests))
        wrong = [f"{quoted(each)} appears twice." for each in _repeated(requests)]
        wrong += [_too_long(each, MOST_SAID) for each in requests if len(each) > MOST_SAID]
        if len(requests) != count:
            wrong.append(f"There are {len(requests)} messages; there must be {count}, in the same order.")
        if not all(requests):
            wrong.append("A message is empty.")
        good = _fresh(requests, MOST_SAID)
        rest = good if len(requests) == count and len(good) > 1 else None
        return FormatError(" ".join(wrong), rest) if wrong else requests

    return form_of(_Requests, requests=texts(count, count)).then(make)


def same_form(count: int) -> AnswerSchema[Same]:
    """A schema that says which of `count` messages ask for something else."""

    def make(form: Same) -> Same | FormatError:
        odd = [number for number in form.different if not 1 <= number <= count]
        if odd:
            return FormatError(f"There is no message {odd[0]}: they are numbered from 1 to {count}.")
        return Same(tidy(form.reason), tuple(sorted(set(form.different))))

    number = {"type": "integer", "minimum": 1, "maximum": count}
    return form_of(Same, different={"type": "array", "items": number, "maxItems": count}).then(make)


def _wrong_with(template: str) -> str:
    if len(template) > MOST_TEMPLATE:
        return _too_long(template, MOST_TEMPLATE)
    names = placeholders_in(template)
    if not names:
        return f"{quoted(template)} has no placeholder in square brackets."
    if odd := [name for name in names if not _PLAIN_WORDS.fullmatch(name)]:
        return f"{quoted(f'[{odd[0]}]')} is not a placeholder: only plain words go between the brackets."
    if _repeated(names):
        return f"{quoted(template)} uses a placeholder twice: give each a different name."
    return ""


def _wrong_with_infills(name: str, infills: Sequence[str], before: Collection[str]) -> list[str]:
    wrong = [f"{quoted(each)} appears twice for {quoted(f'[{name}]')}." for each in _repeated(infills)]
    wrong += [f"{quoted(each)} was used before." for each in infills if alike(each) in before]
    wrong += [_too_long(each, MOST_INFILL) for each in infills if len(each) > MOST_INFILL]
    if not all(infills):
        wrong.append(f"An infill for {quoted(f'[{name}]')} is empty.")
    if not infills:
        wrong.append(f"There is no infill for {quoted(f'[{name}]')}.")
    return wrong


def _has_paraphrases(infills: Infills) -> bool:
    """Whether these infills give at least two messages."""
    sizes = [len(each) for each in infills.values()]
    return bool(sizes) and min(sizes) > 0 and max(sizes) > 1


def _fresh(texts: Sequence[str], most: int, before: Collection[str] = ()) -> tuple[str, ...]:
    """The texts without empty ones, duplicates, those in `before`, and those longer than `most`."""
    first = {key: text for text in reversed(texts) if (key := alike(text)) and key not in before}
    fresh = (text for text in dict.fromkeys(texts) if first.get(alike(text)) == text)
    return tuple(text for text in fresh if len(text) <= most)


def _too_long(text: str, most: int) -> str:
    return f"{quoted(text)} is too long: at most {most:,} characters are allowed."


def _repeated(texts: Sequence[str]) -> list[str]:
    """The texts that repeat an earlier one, each once."""
    keys = [alike(text) for text in texts]
    again = {keys[at]: text for at, text in enumerate(texts) if keys[at] and keys[at] in keys[:at]}
    return list(again.values())


_EMPTY = FormatError("The text in the JSON object is empty.")

PREDICTED = form_of(Predicted).then(
    lambda form: Predicted(answer, form.guess) if (answer := tidy(form.answer)) else _EMPTY
)
STATEMENT = form_of(_Statement).then(lambda form: tidy(form.statement) or _EMPTY)
SCORE = form_of(Scored).then(lambda form: structs.replace(form, reason=tidy(form.reason)))
DECLINED = form_of(Declined)
CORRECTNESS = form_of(Correctness).then(lambda form: structs.replace(form, reason=tidy(form.reason)))


class Approach(msgspec.Struct, frozen=True):
    """How sets are made and judged: only `checks` are used, and a set has up to `variants` requests.

    `context` is known in addition to the tool's documentation. `normalise` is applied to texts before they
    are compared.
    """

    checks: tuple[Check, ...] = CHECKS
    variants: int = 5
    context: str = ""
    normalise: Normalise | None = None

    def __post_init__(self) -> None:
        if not self.checks:
            raise UsageError("no checks are selected", f"known checks: {', '.join(CHECKS)}", where="--checks")


FEWEST = 2  # messages to compare
ROUNDS = 3  # attempts to get more templates, if a model returns too few


class SetDraft(msgspec.Struct, frozen=True, omit_defaults=True):
    """A set that has not been run yet. `why` says why it could not be made, if so."""

    template: str = ""
    infills: Infills = {}
    requests: tuple[str, ...] = ()
    why: str = ""


async def make_sets(
    tool: Described,
    models: Models,
    approach: Approach,
    count: int,
    before: Sequence[PromptSet] = (),
    ideas: list[str] | None = None,
) -> AsyncGenerator[SetDraft]:
    """Make up to `count` sets for a tool, yielded one by one. Nothing from `before` is repeated.

    There are fewer if the model runs out of templates. `ideas` holds all templates it has proposed, used or
    not; new ones are appended, so that a caller who saves it can resume.
    """
    used = [value for each in before for values in each.infills.values() for value in values]
    spoilt = [each.template for each in before if each.template]
    templates = ideas if ideas is not None else []
    templates += [each for each in spoilt if each not in templates]
    new = tuple(each for each in templates if each not in spoilt)[:count]
    made = 0
    for _ in range(ROUNDS):
        if made >= count:
            return
        if not new:
            try:
                about, form = _about(tool, approach, templates), templates_form(count - made, templates)
                new = await models.ask("generator", "templates", form, **about, count=str(count - made))
            except Unusable as error:
                yield SetDraft(why=f"no templates were generated: {told(error)}")
                return
            templates += new
        for template in new:
            draft = await _draft(template, tool, models, approach, used)
            used += [value for values in draft.infills.values() for value in values]
            made += 1
            yield draft
        new = ()


async def _draft(
    template: str, tool: Described, models: Models, approach: Approach, used: Sequence[str]
) -> SetDraft:
    infills: Infills = {}
    try:
        about = {
            **_about(tool, approach, used),
            "template": fenced(template),
            "count": str(approach.variants),
        }
        form = infills_form(template, approach.variants, used)
        infills = await models.ask("generator", "infills", form, **about)
        stiff = fill_template(template, infills, approach.variants)
        same = {"tools": about["tools"], "requests": listed(stiff), "count": str(len(stiff))}
        requests = await models.ask("generator", "humanise", same_number_form(len(stiff)), **same)
    except Unusable as error:
        what = "no messages" if infills else "no infills"
        return SetDraft(template, infills, why=f"{what} were generated: {told(error)}")
    return await _checked(SetDraft(template, infills, requests), tool, models)


def _about(tool: Described, approach: Approach, used: Sequence[str]) -> dict[str, str]:
    context = fenced(approach.context or "(nothing)")
    return {"tools": documentation_of([tool]), "context": context, "used": listed(used)}


async def _checked(draft: SetDraft, tool: Described, models: Models) -> SetDraft:
    """Remove messages that mean something else, according to a model that did not write them."""
    requests = draft.requests
    places = {"tools": documentation_of([tool]), "requests": listed(requests)}
    try:
        found = await models.ask("judge", "same", same_form(len(requests)), **places)
    except Unusable as error:
        why = f"could not check whether the messages mean the same: {told(error)}"
        return structs.replace(draft, why=why)
    alike = tuple(each for number, each in enumerate(requests, 1) if number not in found.different)
    if len(alike) < FEWEST:
        return structs.replace(draft, why=f"the messages do not mean the same: {found.reason}")
    return structs.replace(draft, requests=alike)
