"""Results of the search for better tool descriptions, and the file format for replacement descriptions.

A description file is TOML; it replaces what agents are told about tools. Candidates are scored against the
tool's own description.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping
from typing import Any, Literal, TypeAlias, get_args

import msgspec
from msgspec import structs

from misstep.core.agent import Tool
from misstep.core.outcome import JUDGEMENTS, Judgement, Usage
from misstep.core.results.benchmark import PassRate
from misstep.core.stats import mcnemar
from misstep.core.text import cut, quoted
from misstep.core.tool import Described
from misstep.errors import UsageError, did_you_mean

MOST_TEXT = 20_000  # characters per text
MOST_FILE = 1 << 20  # bytes
MOST_PARTS = 8  # more than any known key has
SHOWN = 100  # characters of a name in messages
EXPECTED = (
    'expected tables such as [tools.NAME] with description = "…", [tools.NAME.parameters] with start = "…"'
)
KEYS = ("description", "parameters")

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\t": "\\t", "\r": "\\r"}
_LITERAL = re.compile(
    r'''"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|\#[^\n]*''', re.DOTALL
)
_BETWEEN_KEYS = re.compile(r"[\n,={}]")
_CONTROL = re.compile(r'[\\"\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]')


class Wording(msgspec.Struct, frozen=True, omit_defaults=True):
    """The description of a tool and of some parameters; None keeps the tool's own description."""

    description: str | None = None
    parameters: dict[str, str] = {}

    @property
    def words(self) -> int:
        return sum(len(text.split()) for text in (self.description or "", *self.parameters.values()))

    @property
    def characters(self) -> int:
        return sum(map(len, (self.description or "", *self.parameters.values())))


Wordings: TypeAlias = Mapping[str, Wording]  # by tool name


def wording_of(tool: Tool) -> Wording:
    """The description that a tool gives itself."""
    properties = tool.parameters.get("properties", {})
    said = {name: each.get("description") for name, each in properties.items() if isinstance(each, dict)}
    return Wording(tool.description, {name: text for name, text in said.items() if isinstance(text, str)})


def reworded(described: Described, wordings: Wordings) -> Described:
    """The tool with its replacement description, if any. Raises `UsageError` for an unknown parameter."""
    wording = wordings.get(described.name)
    if wording is None:
        return described
    tool = described.tool
    properties = dict(tool.parameters.get("properties", {}))
    for name, text in wording.parameters.items():
        if name not in properties:
            hint = did_you_mean(name, properties) or f"it has {', '.join(properties) or 'none'}"
            message = f"the tool {quoted(tool.name)} has no parameter {quoted(name)}"
            raise UsageError(message, hint, where="--descriptions")
        own = properties[name]
        whole = own if isinstance(own, dict) else {} if own else {"not": {}}  # a boolean schema as an object
        properties[name] = {**whole, "description": text}
    said = tool.description if wording.description is None else wording.description
    anew = structs.replace(tool, description=said, parameters={**tool.parameters, "properties": properties})
    return structs.replace(described, tool=anew, is_reworded=True)


def refuse_unknown_tools(wordings: Wordings, known: Iterable[str]) -> None:
    names = list(known)
    for name in wordings:
        if name not in names:
            hint = did_you_mean(name, names) or f"there are {', '.join(names[:10])}"
            raise UsageError(f"there is no tool {quoted(name)}", hint, where="--descriptions")


def read_descriptions(path: str) -> dict[str, Wording]:
    """Read descriptions from a file; empty without a path. Raises `UsageError` for an invalid file."""
    return parse_descriptions(read_text(path), path) if path else {}


def read_text(path: str) -> str:
    """The text of a description file; empty without a path."""
    if not path:
        return ""
    try:
        with open(path, "rb") as file:
            data = file.read(MOST_FILE + 1)
        if len(data) > MOST_FILE:
            raise UsageError(f"is longer than {MOST_FILE:,} bytes", EXPECTED, where=path)
        return data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise UsageError("can't be read as text", str(error), where=path) from error


def parse_descriptions(text: str, where: str) -> dict[str, Wording]:
    _refuse_long_keys(text, where)
    try:
        given = tomllib.loads(text.replace("\r\n", "\n"))
    except (ValueError, RecursionError) as error:
        why = cut(str(error), SHOWN)
        raise UsageError("can't be read as descriptions of tools", why, EXPECTED, where=where) from error
    for key in given:
        if key != "tools":
            hints = did_you_mean(key, ["tools"]), EXPECTED
            raise UsageError(f"unknown key {quoted(key)}", *hints, where=where)
    tools = _table(given.get("tools", {}), "tools", where)
    return {name: _parse_wording(name, each, where) for name, each in tools.items()}


def _refuse_long_keys(text: str, where: str) -> None:
    """Raise `UsageError` for keys with many parts: parsing time grows with the square of their number."""
    blank = _LITERAL.sub(lambda literal: "\n" * literal[0].count("\n"), text)
    for number, line in enumerate(blank.split("\n"), 1):
        if any(each.count(".") >= MOST_PARTS for each in _BETWEEN_KEYS.split(line)):
            message = f"line {number} has a key of more than {MOST_PARTS} parts"
            raise UsageError(message, EXPECTED, where=where)


def write_descriptions(wordings: Wordings) -> str:
    """Format descriptions as such a file."""
    lines = list[str]()
    for name, wording in wordings.items():
        lines.append(f"[tools.{_key(name)}]")
        if wording.description is not None:
            lines.append(f"description = {_quoted(wording.description)}")
        if wording.parameters:
            lines += ["", f"[tools.{_key(name)}.parameters]"]
            lines += [f"{_key(each)} = {_quoted(text)}" for each, text in wording.parameters.items()]
        lines.append("")
    return "\n".join(lines)


def _parse_wording(name: str, given: object, where: str) -> Wording:
    place = f"tools.{cut(name, SHOWN)}"
    table = _table(given, place, where)
    for key in table:
        if key not in KEYS:
            message = f"unknown key {quoted(key)} in [{place}]"
            raise UsageError(message, did_you_mean(key, KEYS), f"known: {', '.join(KEYS)}", where=where)
    parameters = _table(table.get("parameters", {}), f"{place}.parameters", where)
    within = f"{place}.parameters"
    texts = {each: _text(said, f"{within}.{cut(each, SHOWN)}", where) for each, said in parameters.items()}
    said = _text(table["description"], f"{place}.description", where) if "description" in table else None
    return Wording(said, texts)


def _table(given: object, place: str, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise UsageError(f"{place} must be a table, not {_kind(given)}", EXPECTED, where=where)
    return given


def _kind(given: object) -> str:
    names = {bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "a table"}
    return names.get(type(given), "a string" if isinstance(given, str) else "a time")


def _text(given: object, place: str, where: str) -> str:
    if not isinstance(given, str):
        raise UsageError(f"{place} must be a string, not {_kind(given)}", "write it in quotes", where=where)
    if len(given) > MOST_TEXT:
        message = f"{place} has {len(given):,} characters"
        raise UsageError(message, f"at most {MOST_TEXT:,} can be offered to a model", where=where)
    return given


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else '"' + _escaped(name).replace("\n", "\\n") + '"'


def _quoted(text: str) -> str:
    return f'"""\n{_escaped(text)}"""' if "\n" in text else f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    """Escape text for a TOML string; characters that no file can hold are replaced."""

    def escape(found: re.Match[str]) -> str:
        char = found[0]
        return _ESCAPED.get(char) or ("\ufffd" if char >= "\ud800" else f"\\u{ord(char):04x}")

    return _CONTROL.sub(escape, text)


FIX_VERSION = 1
MOST_WORDS = 100  # per candidate
ORIGINAL = 0  # candidate number of the tool's own description

Strategy = Literal["findings", "description", "source", "explore"]
STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Part = Literal["validation", "test"]

# What a description is scored on: a call without a run-time error or refusal, an answer that is also right,
# or a benchmark task.
Matter = Literal["call", "answer", "task"]


class Trying(msgspec.Struct, frozen=True, omit_defaults=True):
    """A request that candidates are tried on; `expected` is what is known of the right answer."""

    id: str
    request: str
    part: Part
    matter: Matter = "call"
    tools: tuple[str, ...] = ()
    expected: str = ""


class Candidate(msgspec.Struct, frozen=True, omit_defaults=True):
    """A description proposed by a model, if usable. `why` is the model's reason, or what was wrong with it.

    `tried` are calls that the model made first, with the tool's answers.
    """

    number: int
    strategy: Strategy
    wording: Wording | None = None
    why: str = ""
    tried: tuple[str, ...] = ()


class FixAttempt(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the agent did with a request under a candidate; `called` if it called the tool."""

    candidate: int
    trying: str
    verdict: Judgement
    why: str = ""
    called: bool = False
    steps: int = 0
    tokens: int = 0

    @property
    def is_judged(self) -> bool:
        return self.verdict in ("passed", "failed")


class Standing(msgspec.Struct, frozen=True):
    """How well a candidate did on one part of the requests; `steps` and `tokens` are per judged request."""

    rate: PassRate
    steps: float | None = None
    tokens: float | None = None


class Duel(msgspec.Struct, frozen=True):
    """A candidate compared with the original: ids of requests that only one of them passed."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]

    @property
    def p(self) -> float:
        return mcnemar(len(self.lost), len(self.gained))

    @property
    def is_better(self) -> bool:
        return len(self.gained) > len(self.lost)


class FixReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """The result of the search for better descriptions of one tool; `usage` is by model role.

    `file` and `line` locate the source of a tool that is a function; `digest` is the hash of its code when
    the search began. `examples` are descriptions of what went wrong, for a model.
    """

    name: str
    tool: str
    original: Wording
    trying: tuple[Trying, ...] = ()
    examples: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    attempts: tuple[FixAttempt, ...] = ()
    ended: Literal["done", "stopped"] = "done"
    file: str = ""
    line: int = 0
    digest: str = ""
    usage: dict[str, Usage] = {}
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    sandbox: str = ""  # human-readable description
    place: int = 0  # position among the tools of its run
    version: int = FIX_VERSION

    @property
    def usable(self) -> list[Candidate]:
        return [each for each in self.candidates if each.wording is not None]

    @property
    def calls(self) -> int:
        return sum(attempt.steps for attempt in self.attempts)

    @property
    def verdict(self) -> Judgement:
        """Passed if there is a better description; inconclusive if the original could not be judged."""
        if not self.standing(ORIGINAL, "validation").rate.judged:
            return "inconclusive"
        return "passed" if self.is_better else "failed"

    @property
    def chosen(self) -> Candidate | None:
        """The best candidate on the validation part, the shortest of equals; None if the original is best."""

        def passed(number: int) -> int:
            return self.standing(number, "validation").rate.passed

        def rank(candidate: Candidate) -> tuple[int, int, int, int]:
            wording = candidate.wording or Wording()
            return -passed(candidate.number), wording.words, wording.characters, candidate.number

        best = min(self.usable, key=rank, default=None)
        return best if best and passed(best.number) > passed(ORIGINAL) else None

    @property
    def duel(self) -> Duel | None:
        """The chosen candidate compared with the original on requests that were not used before."""
        return self.compare(self.chosen.number, "test") if self.chosen else None

    @property
    def is_better(self) -> bool:
        return self.ended == "done" and self.duel is not None and self.duel.is_better

    @property
    def found(self) -> Wording:
        """The chosen candidate's description; empty if there is none."""
        return (self.chosen.wording if self.chosen else None) or Wording()

    def words_of(self, number: int) -> Wording:
        """The full description that an agent gets under a candidate."""
        wordings = [each.wording for each in self.candidates if each.number == number]
        if number == ORIGINAL or (wording := wordings[0]) is None:
            return self.original
        said = self.original.description if wording.description is None else wording.description
        return Wording(said, {**self.original.parameters, **wording.parameters})

    def part(self, part: Part) -> list[Trying]:
        return [each for each in self.trying if each.part == part]

    def made(self, number: int, part: Part) -> dict[str, FixAttempt]:
        """Attempts under a candidate, by request id. See `settle` for what counts as passed."""
        ids = {each.id for each in self.part(part)}
        own = [each for each in self.attempts if each.candidate == number and each.trying in ids]
        if number != ORIGINAL and not any(each.matter == "task" for each in self.trying):
            own = settle(own, self.made(ORIGINAL, part).values())
        return {each.trying: each for each in own}

    def standing(self, number: int, part: Part) -> Standing:
        made = list(self.made(number, part).values())
        verdicts, judged = [each.verdict for each in made], [each for each in made if each.is_judged]
        rate = PassRate(*[verdicts.count(judgement) for judgement in JUDGEMENTS])
        if not judged:
            return Standing(rate)
        steps, tokens = (sum(each.steps for each in judged), sum(each.tokens for each in judged))
        return Standing(rate, steps / len(judged), tokens / len(judged))

    def compare(self, number: int, part: Part) -> Duel:
        """Compare what both have tried. A request that passed and can't be judged now counts as lost."""
        before, after = self.made(ORIGINAL, part), self.made(number, part)
        gained, lost = list[str](), list[str]()
        for each in before:
            if each in after and before[each].verdict == "failed" and after[each].verdict == "passed":
                gained.append(each)
            if each in after and before[each].verdict == "passed" and after[each].verdict != "passed":
                lost.append(each)
        return Duel(tuple(gained), tuple(lost))


class FixRun(msgspec.Struct, frozen=True):
    """The result of a whole run; `source` is the run whose findings it started from.

    `wordings` are replacement descriptions that were in effect from the beginning, by tool name.
    """

    run: str
    specs: tuple[str, ...]
    source: str
    tools: tuple[FixReport, ...]
    seconds: float = 0.0
    usd: float | None = None
    wordings: dict[str, Wording] = {}

    @property
    def better(self) -> list[FixReport]:
        return [each for each in self.tools if each.is_better]


def settle(attempts: Iterable[FixAttempt], before: Iterable[FixAttempt]) -> list[FixAttempt]:
    """Count passes as failures where the description only stopped the agent from calling the tool.

    Not calling it is fine for a request where it did not work before, as long as the tool is still called
    successfully for some other request.
    """
    own = list(attempts)
    used = {each.trying for each in before if each.verdict == "passed" and each.called}
    works = any([each.called and each.verdict == "passed" for each in own])
    return [
        structs.replace(each, verdict="failed", why="the tool is no longer called")
        if each.verdict == "passed" and not each.called and (each.trying in used or not works)
        else each
        for each in own
    ]
