"""Judges reads of records: each is returned as created, listed once, changed, deleted; no other changes.

Records are recognised by unique words in results. What a look lacks counts only if an equal look had it
before, with one call between them, and no tool says that this is so.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from misstep.core.tool import Described
from misstep.fuzzing.contracts.promises import sentence_with
from misstep.fuzzing.contracts.records import LISTS, WORD, Role, ids_of, role_of
from misstep.fuzzing.contracts.steps import DECLINES, Breach, Step, listing_in_words, parameters
from misstep.fuzzing.judging.wording import in_short
from misstep.fuzzing.returned import MARKER
from misstep.schemas.samples import words_of

_PROMISES: dict[Role, str] = {
    "make": r"\b(?:creat|add|new|insert|mak|regist|record|log)",
    "look": r"\b(?:gets?|reads?|returns?|shows?|fetch|retriev|views?|details?|displays?|loads?|lists?|all)",
    "change": r"\b(?:updat|edit|modif|chang|renam|patch|set)",
    "delete": r"\b(?:delet|remov|destroy|eras|discard|purg)",
}
_LESS = re.compile(r"limit|size|count|max", re.IGNORECASE)
_FEWEST = 5  # records that a list shows by default
# What tools say that keep something else than they are given, later than they answer, or not for good.
_WAIVED = re.compile(
    r"eventual|asynchron|background|queue|cached|may take|normali[sz]|encrypt|redact|mask|translat|sanitiz"
    r"|anonymi[sz]|expire|ttl|evict|simulat|mock|dry.?run",
    re.IGNORECASE,
)
_WAIVED_BY: dict[Role, str] = {
    "make": r"replac|overwrit|only one|at most|oldest|capacity|supersed|dedup|merge|upsert|similar",
    "look": r"recent|latest|newest|random|sample|truncat|preview|excerpt|snippet|histor|audit",
    "change": r"replac|overwrit|append|clear|reset|version|histor|revision|supersed|immutab|draft|approv"
    r"|propos",
    "delete": r"soft|archiv|trash|recycl|restor|\bundo\b|mark\w* .*\bas\b|deactivat|schedul|cascad|child"
    r"|sub.?task|hidden|retain|tombstone",
}


class _Record(NamedTuple):
    """A record that the step at this place made, with its words by field."""

    place: int
    words: dict[str, str]


class _Look(NamedTuple):
    """A step that shows words; `target` is the place of the step that made the record it asks for."""

    step: Step
    target: int | None
    words: Counter[str]

    def is_like(self, other: "_Look") -> bool:
        same = self.step.repeats(other.step) if self.target is None else self.step.name == other.step.name
        return same and self.target == other.target


class _Scene(NamedTuple):
    """The records that were made, the last call that is no look, and the looks before and after it."""

    records: Sequence[_Record]
    act: Step
    target: _Record | None
    before: Sequence[_Look]
    after: Sequence[_Look]
    are_numbered: bool  # ids may be positions, which change when something is deleted
    is_fresh: bool  # nothing was made before these calls

    def lost(self, before: _Look, look: _Look) -> set[str]:
        """The words that a look doesn't show any more, nor does another one."""
        shown = {word for each in self.after for word in each.words}
        return {*before.words} - {*look.words} - shown

    def shows_others(self, look: _Look) -> bool:
        """Whether a look by id shows another record instead."""
        own = [word for each in self.records if each.place == look.target for word in each.words.values()]
        return look.target is not None and bool(look.words) and not {*own} & {*look.words}


def find_breach(steps: Sequence[Step]) -> Breach | None:
    """What the last call that is no look broke, by the looks before and after it."""
    scene = _scene_of(steps)
    if scene is None or any(_is_waived(step.tool) for step in steps):
        return None
    for look in scene.after if steps[-1].is_fine else scene.after[-1:]:
        earlier = [each for each in scene.before if each.is_like(look) and each.step.is_fine]
        if earlier:
            breach = _between(scene, earlier[-1], look)
        else:
            breach = _field_lost(scene, look) or _not_shown(scene, look)
        if breach:
            return breach
    return None


def _scene_of(steps: Sequence[Step]) -> _Scene | None:
    records = [_Record(place, words) for place, step in enumerate(steps) if (words := _made_by(step))]
    act = max((place for place, step in enumerate(steps) if role_of(step.tool) != "look"), default=0)
    ids = [ids_of(steps[record.place]) for record in records]
    if not _are_distinct(ids) or not all(step.is_fine for step in steps[: act + 1]):
        return None
    target = next((record for record in records if record.place == _target(steps, act)), None)
    if role_of(steps[act].tool) != "make" and (target is None or DECLINES.search(steps[act].said)):
        return None
    looks = [_look_at(steps, place) for place in range(len(steps))]
    before, after = ([look for look in part if look] for part in (looks[:act], looks[act:]))
    are_numbered = any(str(value).isdecimal() for each in ids for value in each.values())
    is_fresh = steps[0].sent == "afresh"
    return _Scene(records, steps[act], target, before, after, are_numbered, is_fresh)


def _are_distinct(ids: Sequence[Mapping[str, str | int]]) -> bool:
    """Whether results name different things by some id: what gets no id of its own may be one thing."""
    names = set.intersection(*({*each} for each in ids)) if ids else ()
    return any(len({each[name] for each in ids}) == len(ids) for name in names)


def _made_by(step: Step) -> dict[str, str]:
    """The words by field of a record that a step made."""
    given = step.arguments.items() if role_of(step.tool) == "make" else ()
    return {name: value for name, value in given if isinstance(value, str) and WORD.fullmatch(value)}


def _target(steps: Sequence[Step], place: int) -> int | None:
    """The place of the step whose result has the id that a call is given."""
    for value in steps[place].arguments.values():
        found = MARKER.fullmatch(value) if isinstance(value, str) else None
        if found and found["tool"]:
            made = [each for each in range(place) if steps[each].name == found["tool"]]
            return made[-int(found["back"])] if len(made) >= int(found["back"]) else None
    return None


def _look_at(steps: Sequence[Step], place: int) -> _Look | None:
    """What a step shows: nothing if it is refused; None if it is no look, or is cut off."""
    step, reaction = steps[place], steps[place].reaction
    is_answer = step.is_fine or (step.judged.was_refused and reaction.ended in ("returned", "raised"))
    if role_of(step.tool) != "look" or not is_answer or reaction.size > len(reaction.text):
        return None
    words = Counter(WORD.findall(reaction.text.lower())) if step.is_fine else Counter[str]()
    return _Look(step, _target(steps, place), words)


def _is_waived(tool: Described) -> bool:
    """Whether a tool says that it keeps something else, or shows only a few."""
    role = role_of(tool)
    told = " ".join(str(schema.get("description", "")) for schema in parameters(tool).values())
    about = f"{' '.join(words_of(tool.name))} {tool.tool.description} {told}"
    known = re.compile(_WAIVED_BY[role], re.IGNORECASE).search(about) if role else None
    sizes = [schema.get("default") for name, schema in parameters(tool).items() if _LESS.search(name)]
    is_short = role == "look" and any(isinstance(size, int) and 0 < size < _FEWEST for size in sizes)
    return bool(_WAIVED.search(about) or known or is_short)


def _field_lost(scene: _Scene, look: _Look) -> Breach | None:
    """Whether a look at a record shows a field of it, but another one with something else in its place."""
    record = next((each for each in scene.records if each.place == look.target), None)
    if record is None or role_of(scene.act.tool) != "make":
        return None
    if not any(word in look.words for word in record.words.values()) or scene.shows_others(look):
        return None
    for name, word in record.words.items():
        if word not in look.words and _has_place_for(look.step, name):
            return _not_read(look, word, in_short(look.step.said))
    return None


def _has_place_for(step: Step, field: str) -> bool:
    """Whether a JSON result has a text, or nothing, under the name of a field."""
    try:
        found = [*_under(field, json.loads(step.reaction.text))]
    except (ValueError, RecursionError):
        return False
    return bool(found) and all(value is None or isinstance(value, str) for value in found)


def _under(field: str, value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from ([value[field]] if field in value else ())
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _under(field, each)


def _not_shown(scene: _Scene, look: _Look) -> Breach | None:
    """Whether a look at a new record lacks what the same look showed of an earlier one."""
    controls = [each for each in scene.before if each.step.name == look.step.name and each.words]
    if look.target is None or role_of(scene.act.tool) != "make" or not controls:
        return None
    words, control = {record.place: record.words for record in scene.records}, controls[-1]
    if look.target not in words or control.target not in words:
        return None
    wanted = words[look.target]
    for name, word in words[control.target].items():
        if word in control.words and wanted.get(name, word) not in (*look.words, word):
            return _not_read(look, wanted[name], in_short(look.step.said))
    return None


def _not_read(look: _Look, word: str, read: str) -> Breach | None:
    words = sentence_with(look.step.tool, _PROMISES["look"])
    effect = f"a record was created with {word!r}, but reading it returned {read}"
    return Breach("read back", look.step.name, words, effect) if words else None


def _between(scene: _Scene, before: _Look, look: _Look) -> Breach | None:
    match role_of(scene.act.tool):
        case "make" if look.target is None:
            return _not_listed_once(scene, before, look)
        case "make" if before.words and scene.shows_others(look) and not scene.shows_others(before):
            return _not_read(look, min(before.words), in_short(look.step.said))
        case "delete" if scene.target and look.step.reaction.text == before.step.reaction.text:
            return _still_there(scene, before)
        case "change" if scene.target and (breach := _not_changed(scene, before, look)):
            return breach
    return _other_lost(scene, before, look)


def _not_listed_once(scene: _Scene, before: _Look, look: _Look) -> Breach | None:
    """Whether a list lacks a record, or shows it twice, compared with the first one alone.

    It may lack one that is on another page; but two records from a fresh start fit on the first page.
    """
    if not look.step.is_fine or len(scene.records) < 2:
        return None
    first, second = (record.words for record in scene.records[-2:])
    shown = {name: times for name in second if (times := before.words[first.get(name, "")])}
    promise = sentence_with(look.step.tool, LISTS)
    has_all = scene.is_fresh and not any(map(_LESS.search, parameters(look.step.tool)))
    for words in (first, second) if shown and promise else ():
        # How often each field is shown, compared with how often one record shows it.
        often = {look.words[words[name]] / times for name, times in shown.items()}
        if len(often) == 1 and (found := often.pop()) in ((0, 2, 3) if has_all else (2, 3)):
            effect = listing_in_words(scene.act.name, words[next(iter(shown))], int(found))
            return Breach("listed once", look.step.name, promise, effect)
    return None


def _still_there(scene: _Scene, before: _Look) -> Breach | None:
    """Whether a look that showed what was deleted still shows the same."""
    words = sentence_with(scene.act.tool, _PROMISES["delete"])
    if not words or scene.target is None or not {*scene.target.words.values()} & {*before.words}:
        return None
    effect = f"it succeeded, but {before.step.name} still returns the same"
    return Breach("deleted", scene.act.name, words, effect)


def _not_changed(scene: _Scene, before: _Look, look: _Look) -> Breach | None:
    """Whether a look still shows the old value of a field, and none shows the new one."""
    new, old = _changed(scene)
    is_shown = any(word in each.words for each in scene.after for word in new)
    words = sentence_with(scene.act.tool, _PROMISES["change"])
    if is_shown or not words or not old & {*before.words} & {*look.words}:
        return None
    effect = f"{min(new)!r} was given, but {look.step.name} still returns {min(old)!r}"
    return Breach("read back", scene.act.name, words, effect)


def _changed(scene: _Scene) -> tuple[set[str], set[str]]:
    """The words that a change gives to fields, and those that they had before."""
    known = scene.target.words if scene.target else {}
    given = {name.removeprefix("new_"): value for name, value in scene.act.arguments.items()}
    new = {name: value for name, value in given.items() if name in known and value != known[name]}
    new = {name: value for name, value in new.items() if WORD.fullmatch(str(value))}
    return {*new.values()}, {known[name] for name in new}


def _other_lost(scene: _Scene, before: _Look, look: _Look) -> Breach | None:
    """Whether a look lacks what the call between was not about."""
    role, own = role_of(scene.act.tool), set[str]()
    if role == "delete" and scene.target:
        own = {*scene.target.words.values()}
    elif role == "change":
        own = _changed(scene)[1]
    has_list = any(each.target is None and each.step.is_fine for each in scene.after)
    if scene.shows_others(look) or (role == "delete" and scene.are_numbered and not has_list):
        return None
    lost = sorted(scene.lost(before, look) - own)
    words = sentence_with(scene.act.tool, _PROMISES[role]) if role else ""
    if not lost or not words:
        return None
    told = f"doesn't show {lost[0]!r} any more" if look.step.is_fine else f"fails: {in_short(look.step.said)}"
    return Breach("nothing else", scene.act.name, words, f"afterwards {look.step.name} {told}")
