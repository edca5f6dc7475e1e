"""Contracts about records whose ids the server assigns: `create_task` returns an id, which `get_task` takes.

Each text of a record is a unique word, by which it is recognised in results. `record_looks` judges what the
calls show.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, Literal, NamedTuple, TypeAlias

from msgspec.structs import replace

from misstep.core.tool import Described, Invocation
from misstep.fuzzing.contracts.effects import TWO_WORDS
from misstep.fuzzing.contracts.promises import sentence_with
from misstep.fuzzing.contracts.steps import (
    Calls,
    Experiments,
    Step,
    Toolkit,
    call_of,
    is_fine,
    parameters,
    required,
)
from misstep.fuzzing.judging.echoes import leaves_of
from misstep.fuzzing.returned import is_marker, latest_in, marker_for
from misstep.fuzzing.search.harvest import plain_name
from misstep.fuzzing.search.sequences import is_handle
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list, kinds_of, mapping

Role: TypeAlias = Literal["make", "look", "change", "delete"]

_WORDS = (*TWO_WORDS, "orchard")  # with a number: in the first record, the second, and a change
WORD = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(_WORDS)})\d+(?!\d)", re.IGNORECASE)
_MOST_FIELDS, _MOST_LISTS = 2, 2
# Parameters whose texts are kept as they are, unless a tool says otherwise.
_TEXTS = (
    "title name subject headline content text body desc description summary note comment detail message goal "
    "task topic reason rationale question answer"
)
_VERBS: dict[Role, str] = {
    "make": "create add new insert make register record log",
    "look": "get read show fetch view list load retrieve describe find all ls",
    "change": "update edit modify change rename patch",
    "delete": "delete remove destroy erase discard purge",
}
_ROLES = {word: role for role, words in _VERBS.items() for word in words.split()}
_ALSO_NOUNS = ("log", "record")  # as in `git_log` and `record_get`
_SEVERAL = frozenset(("and", "or", "replace"))  # in names of tools that do several things: `find_and_replace`
_FILLERS = ("by", "id", "a", "an", "the", "item", "detail", "detailed", "info", "one")
LISTS = r"\b(?:lists?|all|every)\b"
_SINGLE = frozenset(("next", "current", "active", "first", "last"))
_RELATED = re.compile(r"parent|child|depend|block|link|relat|ref", re.IGNORECASE)
_CONFIRMING = frozenset(("confirm", "confirmed", "force"))


class Kind(NamedTuple):
    """A sort of record: accepted calls that make one, its fields, and the ids that the result had."""

    maker: Described
    made: Calls
    fields: tuple[str, ...]
    ids: Mapping[str, str | int]

    def make(self, word: str, numbers: Iterator[int]) -> Calls:
        given = json.loads(self.made[-1].arguments)
        words = {name: f"{word}{next(numbers)}" for name in self.fields}
        return (call_of(self.maker.name, {**given, **words}),)


def experiments(kit: Toolkit) -> Experiments:
    """Two records each time; then look at them, or change or delete the first one between looks."""
    numbers = count(1)
    for maker in kit.tools.values():
        for calls, fields in _worded(kit, maker) if role_of(maker) == "make" else ():
            kind = Kind(maker, calls, fields, {})
            steps = yield (*calls[:-1], *kind.make(_WORDS[0], numbers))
            if steps is not None and is_fine(steps):
                kind = kind._replace(ids=ids_of(steps[-1]))
                yield from _about(kit, kind, numbers) if kind.ids else ()
                break


def _worded(kit: Toolkit, maker: Described) -> Iterator[tuple[Calls, tuple[str, ...]]]:
    """Calls that may make a record, with its fields: all of them, or those that were accepted before."""
    known = min(kit.accepted.get(maker.name, ()), key=len, default=())
    given = json.loads(known[-1].arguments) if known else {}
    prose = [name for name, schema in parameters(maker).items() if _is_prose(name, schema)]
    for names, fields in ((required(maker), prose), (given, [name for name in prose if name in given])):
        kept = {name: given[name] for name in names if name in given and name not in fields}
        is_whole = {*required(maker)} <= {*kept, *fields}
        if is_whole and fields and not any(_may_relate(name, value) for name, value in kept.items()):
            yield (*known[:-1], call_of(maker.name, kept)), tuple(fields)


def _is_prose(name: str, schema: Mapping[str, Any]) -> bool:
    """Whether a parameter takes any text; a pattern, a format or a choice asks for a special one."""
    shapes = _shapes_of(schema)
    is_text = any(each.get("type") == "string" for each in shapes)
    is_free = all(not each.keys() & {"enum", "pattern", "format", "const", "maxLength"} for each in shapes)
    return is_text and is_free and bool({*words_of(name)[-1:]} & frozenset(_TEXTS.split()))


def _shapes_of(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The alternatives of a schema, or itself."""
    return [mapping(each) for each in as_list(schema.get("anyOf"))] or [schema]


def _may_relate(name: str, value: Any) -> bool:
    """Whether a value could name another record, which then belongs to it."""
    is_id = is_handle(name) and not (isinstance(value, str) and is_marker(value))
    return is_id or bool(_RELATED.search(name))


def ids_of(step: Step) -> dict[str, str | int]:
    """The values by which a result may name what was made, without those that were given."""
    given = [leaf for leaf in leaves_of(step.arguments, keys=False) if isinstance(leaf, str)]
    own, found = parameters(step.tool), latest_in(step.reaction)
    named = {name: value for name, value in found.items() if is_handle(name) and name not in own}
    return {name: value for name, value in named.items() if value not in given}


def _about(kit: Toolkit, kind: Kind, numbers: Iterator[int]) -> Experiments:
    kin = [described for described in kit.tools.values() if _is_kin(kind.maker, described)]
    looks = [described for described in kin if role_of(described) == "look"]
    looks.sort(key=lambda each: len(_nouns(each) ^ _nouns(kind.maker)))  # before get_task_size comes get_task
    getters = [each for each in looks if _takes_id(each, kind)][:1]
    lists = [each for each in looks if not _takes_id(each, kind) and _is_list(each)][:_MOST_LISTS]

    def looks_at(record: Calls, *backs: int) -> Calls:
        """Looks at records by how many were made since, and at the lists."""
        named = [_call(getter, kind, record[0], back) for getter in getters for back in backs]
        listed = [_call(each, kind, record[0], 1) for each in lists[:1]]
        return tuple(call for call in (*named, *listed) if call)

    for each in (*lists, *getters):
        one, other = (kind.make(word, numbers) for word in _WORDS[:2])
        if look := _call(each, kind, one[0], 1):
            again = (look,) if each in lists else looks_at(one, 1, 2)[:2]
            calls = (*kind.made[:-1], *one, look, *other, *again)
            steps = yield calls
            is_shown = steps is not None and _shows_all(steps[len(kind.made)], one[0])
            if not is_shown or (steps and each in lists and not _shows_all(steps[-1], other[0])):
                yield (replace(calls[0], sent="afresh"), *calls[1:])  # others may hide it
    for each in kin:
        for field in ("", *kind.fields[:_MOST_FIELDS]):
            one, other = (kind.make(word, numbers) for word in _WORDS[:2])
            act, look_again = _action(each, kind, one[0], field, numbers), looks_at(one, 2, 1)
            if act and look_again:
                yield (*kind.made[:-1], *one, *other, *look_again, act, *look_again)


def _shows_all(look: Step, record: Invocation) -> bool:
    """Whether a look shows each text of a record once."""
    words = WORD.findall(record.arguments)
    return look.is_fine and all(WORD.findall(look.reaction.text).count(word) == 1 for word in words)


def _action(
    tool: Described, kind: Kind, record: Invocation, field: str, numbers: Iterator[int]
) -> Invocation | None:
    """The call that deletes the record made before the last one, or changes one field of it."""
    made = _call(tool, kind, record, 2)
    if made is None or role_of(tool) != ("change" if field else "delete"):
        return None
    given, known = json.loads(made.arguments), parameters(tool)
    if not field:
        return made
    name = next((each for each in (field, f"new_{field}") if each in known), None)
    # What is omitted has this value then, and what is not text has an unknown one.
    defaults = [known[each].get("default") for each in kind.fields if each in known and each not in given]
    if name is None or any(value is not None for value in defaults):
        return None
    return call_of(tool.name, {**given, name: f"{_WORDS[2]}{next(numbers)}"})


def _call(tool: Described, kind: Kind, record: Invocation, back: int) -> Invocation | None:
    """A call with what the tool requires for a record: its id, or what it was made with."""
    given, made = dict[str, Any](), json.loads(record.arguments)
    for name, schema in parameters(tool).items():
        if name in _CONFIRMING and schema.get("type") == "boolean" and role_of(tool) == "delete":
            given[name] = True
        elif name not in required(tool):
            continue
        elif name in made and (name not in kind.fields or role_of(tool) == "change"):
            given[name] = made[name]
        elif name.removeprefix("new_") in made and role_of(tool) == "change":
            given[name] = made[name.removeprefix("new_")]
        elif known := _id_for(name, kind):
            kinds = {each for shape in _shapes_of(schema) for each in kinds_of(shape)}
            is_number = "string" not in kinds and bool(kinds & {"integer", "number"})
            given[name] = marker_for(known, kind.maker.name, back, is_number)
        else:
            return None
    return call_of(tool.name, given)


def _is_list(tool: Described) -> bool:
    """Whether a tool says that it lists things, rather than the one that matters now."""
    return bool(sentence_with(tool, LISTS)) and not {*words_of(tool.name)} & _SINGLE


def _takes_id(tool: Described, kind: Kind) -> bool:
    return any(_id_for(name, kind) for name in required(tool))


def _id_for(parameter: str, kind: Kind) -> str:
    """What the result of the maker calls the id for a parameter; empty if there is none."""
    wanted, plain = plain_name(parameter), {plain_name(name): name for name in kind.ids}
    near = [each for each in plain if wanted.endswith(each) or each.endswith(wanted)]
    near.sort(key=lambda each: (each != wanted, not any(noun in each for noun in _nouns(kind.maker))))
    return plain[near[0]] if near and is_handle(parameter) else ""


def role_of(tool: Described) -> Role | None:
    """What a tool does with records, by the first verb of its name; None if that is unknown."""
    words = words_of(tool.name)
    if {*words} & _SEVERAL:
        return None
    verbs = [word for word in words if word in _ROLES and word not in _ALSO_NOUNS] or words[:1]
    return next((_ROLES[word] for word in verbs if word in _ROLES), None)


def _nouns(tool: Described) -> set[str]:
    return {word for word in words_of(tool.name) if word not in _ROLES and word not in _FILLERS}


def _is_kin(maker: Described, tool: Described) -> bool:
    """Whether names are about the same things; the same ones only, if a tool changes something."""
    one, other = _nouns(maker), _nouns(tool)
    if role_of(tool) in ("change", "delete"):
        return one == other
    return bool(one & other) or not other
