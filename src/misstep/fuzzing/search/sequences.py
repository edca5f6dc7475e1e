"""Combines calls into sequences that take tools through different states.

Most sequences follow the life of a thing: create, read, change, delete. Walks try tools on the same thing in
different orders.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any

from misstep.core.rng import Dice
from misstep.core.tool import Described, Path, ReturnedText
from misstep.fuzzing.inputs.edges import NEW_FILES, is_new_file
from misstep.fuzzing.inputs.slots import put
from misstep.fuzzing.returned import is_returned, returned
from misstep.fuzzing.search.acceptance import places_in
from misstep.fuzzing.search.corpus import Calls, Corpus, CorpusEntry
from misstep.fuzzing.search.harvest import NamedValues
from misstep.fuzzing.search.mutation import changed_value, mutated
from misstep.fuzzing.search.subject import FuzzSubject, Parameter
from misstep.schemas.samples import words_of
from misstep.schemas.shape import as_list, mapping

LONGEST = 8

# Words in tool names for each stage of a thing's life.
_STAGES = (
    "create add new insert write put set open start register make save upload push store init login append "
    "connect import plan planning begin initialize",
    "read get list find search show fetch view describe query load count status download head exists peek",
    "update edit move rename copy modify change patch replace transfer assign merge apply lock reorder "
    "mark toggle swap",
    "delete remove drop clear close stop end pop cancel reset destroy logout unregister discard purge",
)
_STAGE_OF = {word: stage for stage, words in enumerate(_STAGES) for word in words.split()}
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


@cache
def stage_of(name: str) -> int:
    """0 for tools that create something, 1 read, 2 change, 3 delete."""
    return next(_stages(name), 1)


def is_known_to_read(name: str) -> bool:
    """Whether a name says that the tool reads; `stage_of` assumes it for unknown names."""
    return next(_stages(name), None) == 1


def says_what_it_does(name: str) -> bool:
    return next(_stages(name), None) is not None


def _stages(name: str) -> Iterator[int]:
    found = (_STAGE_OF.get(word.lower()) for word in _WORD.findall(name))
    return (stage for stage in found if stage is not None)


# They make what they return the id of, even if they may take one: load_csv(path, session_id=None).
_OPENING = frozenset({"load", "open", "connect", "start", "begin", "initialize", "init", "login"})


def makes_things(name: str) -> bool:
    """Whether other tools may need what a tool makes, judged by its name."""
    return stage_of(name) == 0 or "load" in words_of(name)


_HANDLES = {"id", "uuid", "guid", "handle", "session", "token"}


def wave_of(described: Described) -> int:
    """When a tool is tested, after the tools that make what it needs.

    0 for those that make something or list what there is, 1 for those that take an id for that, 2 for all
    others.
    """
    required = as_list(described.tool.parameters.get("required"))
    names = [str(name) for name in mapping(described.tool.parameters.get("properties"))]
    if makes_things(described.name):
        if any(is_handle(str(name)) for name in required):
            return 1
        own = {*words_of(described.name)}  # an id of its own kind may be that of what it makes
        others = [name for name in names if is_handle(name) and _things_of(name) - own]
        return int(bool(others) and not _OPENING & own)
    if described.kind != "mcp" or required or stage_of(described.name) != 1:
        return 2
    return int(any(is_handle(name) and _things_of(name) for name in names))


def _things_of(handle: str) -> set[str]:
    """What an id is of, such as a note for `noteId`; a token says where a list goes on."""
    *words, last = words_of(handle)
    return set() if last == "token" else set(words)


def is_handle(parameter: str) -> bool:
    """Whether a parameter takes what a server has named: `sessionId`, `token`."""
    return bool({*words_of(parameter)[-1:]} & _HANDLES)


_PASSED_ON = 0.9  # chance that a value of an earlier result is used
_TEXT = frozenset(("content", "contents", "str", "string", "text"))  # and of those that take texts
_FILE = frozenset(("file", "filename", "filepath", "path"))  # words of parameters that name files
_NAMES = ("name", "id", "title", "key", "path", "url")  # parameters that name what a tool makes


def related_values(parameters: Sequence[Parameter], before: Calls) -> dict[str, Any]:
    """The values of parameters that are about the things of earlier calls."""
    found = dict[str, Any]()
    for parameter in parameters:
        told = [given[parameter.name] for _, given in before if parameter.name in given]
        if told := told or _named_after(parameter, before) or _part_of(parameter, before):
            found[parameter.name] = told[-1]
    return found


def _part_of(parameter: Parameter, before: Calls) -> list[Any]:
    """What the first item of a list has under the parameter's name: `source` of a relation that was made."""
    return [
        value
        for tool, given in before
        if stage_of(tool) == 0
        for path, value in places_in(given)
        if len(path) > 1 and path[-1] == parameter.name and 0 in path
    ][:1]


def _named_after(parameter: Parameter, before: Calls) -> list[Any]:
    """Names of things that tools made, for a parameter that says what they are: register_project, project."""
    words = {*words_of(parameter.name)} - {*_NAMES}
    is_list = "array" in parameter.kinds and "string" not in parameter.kinds
    return [
        [given[name]] if is_list else given[name]
        for tool, given in before
        if stage_of(tool) == 0 and words & {*words_of(tool)}
        for name in _NAMES
        if isinstance(given.get(name), str)
    ][:1]


def with_names_of(arguments: dict[str, Any], before: Calls) -> dict[str, Any]:
    """The arguments with the names of things that earlier calls made, at any depth.

    For example, `entityName` in a list gets the name that `create_entities` was given in another list.
    """
    made = [
        ({*words_of(tool), *_words(path)}, value)
        for tool, given in before
        if stage_of(tool) == 0
        for path, value in places_in(given)
        if isinstance(value, str) and value and _key(path) in _NAMES
    ]
    for path, value in places_in(arguments):
        wanted = {*words_of(_key(path))}
        if isinstance(value, str) and len(wanted) > 1 and wanted & {*_NAMES}:
            found = [name for words, name in made if wanted <= words]
            arguments = put(arguments, path, found[-1]) if found else arguments
    return arguments


def with_files_of(
    arguments: dict[str, Any], before: Calls, subject: FuzzSubject, dice: Dice
) -> dict[str, Any]:
    """The arguments with a file that an earlier call has made, and with new names for files to be made."""
    made = [
        value
        for tool, given in before
        if stage_of(tool) == 0
        for name, value in given.items()
        if isinstance(value, str) and value and _FILE & {*words_of(name)}
    ]
    for path, files in subject.files.items():
        if path[0] not in arguments or not dice.chance(_PASSED_ON):
            continue
        if is_new_file(path):
            arguments = put(arguments, path, dice.pick(files[:NEW_FILES]))
        elif made:
            arguments = put(arguments, path, made[-1])
    return _with_old_texts(arguments, before, dice)


def _with_old_texts(arguments: dict[str, Any], before: Calls, dice: Dice) -> dict[str, Any]:
    """The arguments with parts of a text that an earlier call has written, where a text is to be replaced."""
    written = [
        value
        for tool, given in before
        if stage_of(tool) == 0
        for name, value in given.items()
        if isinstance(value, str) and _TEXT & {*words_of(name)}
    ]
    for path, value in places_in(arguments) if written else ():
        words = words_of(_key(path))
        if isinstance(value, str) and words[:1] == ["old"] and _TEXT & {*words} and dice.chance(_PASSED_ON):
            arguments = put(arguments, path, dice.pick([written[-1], *written[-1].split()]))
    return arguments


def with_results_of(
    arguments: dict[str, Any],
    before: Calls,
    harvest: NamedValues,
    required: Iterable[str],
    dice: Dice,
    chance: float = _PASSED_ON,
) -> dict[str, Any]:
    """The arguments with what earlier calls return under such names, at any depth, unless it is an echo."""
    tools = [tool for tool, _ in before]
    values = (value for _, given in before for _, value in places_in(given))
    echoes = {str(value) for value in values if not is_returned(value)}
    missing = {name: "" for name in required if name not in arguments}
    for path, value in places_in({**arguments, **missing}):
        is_wanted = isinstance(value, str | int) and not is_new_file(path)
        found = harvest.returned_by(tools, _key(path)) if is_wanted else None
        if found is None or str(found) in echoes or isinstance(value, bool) or not dice.chance(chance):
            continue
        if isinstance(value, str):
            found = returned(found.name, str(found))
        if isinstance(found, ReturnedText) == isinstance(value, str):
            arguments = put(arguments, path, found)
    return arguments


def _words(path: Path) -> list[str]:
    return [word for step in path if isinstance(step, str) for word in words_of(step)]


def _key(path: Path) -> str:
    return next((step for step in reversed(path) if isinstance(step, str)), "")


class Sequences:
    """Makes sequences from calls in the corpus and values from results."""

    def __init__(self, subjects: dict[str, FuzzSubject], corpus: Corpus, harvest: NamedValues) -> None:
        self._named = subjects
        self._subjects = list(subjects.values())
        self._corpus = corpus
        self._harvest = harvest
        self._stages = [[each for each in self._subjects if stage_of(each.name) == n] for n in range(4)]

    def lives(self) -> list[Calls]:
        """For each creating tool: create, read, change, read, delete twice, read again."""
        makers, lookers, changers, takers = self._stages
        found = list[Calls]()
        for maker in makers[:6]:
            steps = [maker, *lookers[:2], *changers[:2], *takers[:1] * 2, *lookers[:1]]
            again = [maker, maker, *takers[:1], *lookers[:1], maker]
            if len(steps) > 1:
                found += [self._alike(steps, maker.simple), self._alike(again, maker.complete)]
        return [*found, *(((taker.name, taker.simple),) * 2 for taker in takers[:4])]

    def make(self, dice: Dice) -> Calls:
        entry = self._corpus.pick(dice)
        way = dice.below(8) if entry else 0
        if entry is None or way == 0:
            return self._fresh(dice)
        if way == 1:
            return (entry.calls * (2 + dice.below(3)))[:LONGEST]
        if way == 2:
            return self._afterwards(dice)
        if way <= 4:
            return self._longer(entry, dice)
        if way == 5:
            return (entry.calls + (self._corpus.any(dice) or entry).calls)[:LONGEST]
        return self._changed(entry, dice)

    def related(self, subject: FuzzSubject, before: Calls, dice: Dice) -> dict[str, Any]:
        """Arguments for a tool that reuse arguments of earlier calls or values from results."""
        arguments = dict(subject.simple)
        for parameter in subject.parameters:
            name = parameter.name
            told = [given[name] for _, given in before if name in given]
            results = self._harvest.wanted(parameter)
            told = told or _named_after(parameter, before)
            if results and (not told or dice.chance(0.5)):
                arguments[name] = results[-1] if dice.chance(0.5) else dice.pick(results)
            elif told and dice.chance(0.9):
                arguments[name] = told[-1]
            elif name in arguments and dice.chance(0.15):
                arguments[name] = changed_value(arguments[name], subject, dice)
        if subject.described.kind != "mcp":  # other tools keep nothing between attempts
            return arguments
        return with_results_of(arguments, before, self._harvest, subject.required, dice)

    def _alike(self, steps: list[FuzzSubject], first: dict[str, Any]) -> Calls:
        """Calls that share the values of parameters with the same name."""
        calls: Calls = ((steps[0].name, dict(first)),)
        given = {**steps[0].simple, **first}
        for subject in steps[1:]:
            arguments = {name: given.get(name, value) for name, value in subject.simple.items()}
            given = {**arguments, **given}
            calls = (*calls, (subject.name, arguments))
        return calls

    def _fresh(self, dice: Dice) -> Calls:
        """A short life: a call that creates something, then others roughly by stage."""
        calls: Calls = ()
        for stage in range(2 + dice.below(LONGEST - 1)):
            fitting = self._stages[min(stage, 3)] if dice.chance(0.6) else self._subjects
            subject = dice.pick(fitting or self._subjects)
            calls = (*calls, (subject.name, self.related(subject, calls, dice)))
        return calls

    def _afterwards(self, dice: Dice) -> Calls:
        """Delete something, then use other tools on it."""
        taker = dice.pick(self._stages[3] or self._subjects)
        given = self.related(taker, (), dice)
        calls: Calls = ((taker.name, given),)
        concerned = [each for each in self._subjects if any(part.name in given for part in each.parameters)]
        for _ in range(1 + dice.below(2)):
            subject = dice.pick(concerned or self._subjects)
            same = {each.name: given[each.name] for each in subject.parameters if each.name in given}
            calls = (*calls, (subject.name, {**subject.simple, **same}))
        return calls

    def _longer(self, entry: CorpusEntry, dice: Dice) -> Calls:
        """Append calls about the same things."""
        calls = entry.calls[-LONGEST + 2 :]
        for _ in range(1 + dice.below(2)):
            subject = dice.pick(self._subjects)
            calls = (*calls, (subject.name, self.related(subject, calls, dice)))
        return calls

    def _changed(self, entry: CorpusEntry, dice: Dice) -> Calls:
        """Remove, move or mutate one call."""
        calls = list(entry.calls)
        place = dice.below(len(calls))
        way = dice.below(4)
        if len(calls) > 2 and way == 0:
            del calls[place]
        elif len(calls) > 1 and way == 1:
            calls.insert(dice.below(len(calls)), calls.pop(place))
        else:
            tool, arguments = calls[place]
            if tool in self._named:  # else it prepares the others
                calls[place] = (tool, mutated(arguments, self._named[tool], dice))
        return tuple(calls) if len(calls) > 1 else (*calls, calls[0])


WINDOW = 4  # consecutive calls of which every order should be tried
MOST_TOOLS = 6  # per walk, since more have too many orders


class Walks:
    """Sequences that keep a shared parameter at one value, and avoid repeating an order of calls.

    What a tool does may depend on earlier calls about the same thing, without any new code running in
    between, so coverage does not lead there.
    """

    def __init__(self, subjects: Sequence[FuzzSubject], harvest: NamedValues) -> None:
        self._subjects = [each for each in subjects if each.parameters]
        if len(self._subjects) < 2:
            self._subjects = list(subjects)
        self._harvest = harvest
        names = Counter(each.name for subject in subjects for each in subject.parameters)
        self._shared = {name for name, times in names.items() if times > 1}
        self._seen: dict[bool, set[tuple[str, ...]]] = {False: set(), True: set()}
        self._made = 0

    def make(self, dice: Dice) -> Calls:
        few = len(self._subjects) <= MOST_TOOLS
        subjects = self._subjects if few else dice.sample(self._subjects, MOST_TOOLS)
        given = self._told(subjects, dice) if dice.chance(0.5) else {}
        steps = self._steps(subjects, bool(given), dice)
        self._made += 1
        for subject in steps:
            for parameter in subject.parameters:
                if parameter.name in self._shared and parameter.name not in given:
                    given[parameter.name] = self._own(parameter, subject, dice)
        return tuple((each.name, _arguments(each, given)) for each in steps)

    def _told(self, subjects: Sequence[FuzzSubject], dice: Dice) -> dict[str, Any]:
        """Values from results for parameters that tools share, usually the latest."""
        told = dict[str, Any]()
        for parameter in (each for subject in subjects for each in subject.parameters):
            values = self._harvest.named(parameter) if parameter.name in self._shared else []
            if values and parameter.name not in told:
                told[parameter.name] = values[-1] if dice.chance(0.7) else dice.pick(values)
        return told

    def _steps(self, subjects: Sequence[FuzzSubject], told: bool, dice: Dice) -> list[FuzzSubject]:
        """Tools in an order with as many new windows as possible, mostly starting with a creating one."""
        makers = [each for each in subjects if stage_of(each.name) == 0]
        steps = [dice.pick(makers if makers and dice.chance(0.7) else list(subjects))]
        width, seen = min(WINDOW, len(subjects)), self._seen[told]
        while len(steps) < LONGEST:
            latest = steps[1 - width :] if width > 1 else []
            others = [each for each in subjects if each not in latest] or list(subjects)
            windows = {each: tuple(step.name for step in (*latest, each)) for each in others}
            fresh = [each for each in others if windows[each] not in seen]
            chosen = dice.pick(fresh or others)
            if len(windows[chosen]) == width:
                seen.add(windows[chosen])
            steps.append(chosen)
        return steps

    def _own(self, parameter: Parameter, subject: FuzzSubject, dice: Dice) -> Any:
        """A simple value, or one that no other walk uses, so that only this walk affects it."""
        simple: Any = subject.complete.get(parameter.name)
        if parameter.choices or dice.chance(0.3) or type(simple) not in (str, int):
            return simple
        fresh = f"{simple}{self._made}" if isinstance(simple, str) else simple + self._made
        fits = subject.misfit({**subject.complete, parameter.name: fresh}) is None
        return fresh if fits else simple


def _arguments(subject: FuzzSubject, given: dict[str, Any]) -> dict[str, Any]:
    names = [each.name for each in subject.parameters if each.required or each.name in subject.simple]
    return {**subject.simple, **{name: given[name] for name in names if name in given}}
