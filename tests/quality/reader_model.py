"""A model that goes by what the documentation of a tool says, whichever tool it is: agent, generator, judge."""

import json
import re
import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from fractions import Fraction
from itertools import zip_longest
from typing import Any

import msgspec

from misstep.fuzzing.agent_tests.prompts import Stage
from misstep.schemas.schema import fits
from tests.fuzzing.agent_tests.scripted_roles import Answer, fenced_in, last_result, plays
from tests.quality.planted_documents.domain import PURPOSES, Purpose
from tests.scripted import Call, Script, ScriptedServer
from tests.scripted.wire import Recorded

EXACTLY = "Please make exactly this tool call"

UNITS = {
    "kilometres per hour": Fraction(1000, 3600),
    "metres per second": Fraction(1),
    "km/h": Fraction(1000, 3600),
    "m/s": Fraction(1),
    "kilometres": Fraction(1000),
    "metres": Fraction(1),
    "km": Fraction(1000),
    "m": Fraction(1),
    "kilograms": Fraction(1),
    "kg": Fraction(1),
    "grams": Fraction(1, 1000),
}
NUMBERS = {"two": 2, "twenty": 20, "eighty": 80}
ZONES = {"UTC": 0, "in London": 0, "in Berlin": 1, "in New York": -5}  # hours, in winter
DAYS = ("%d %B %Y", "%B %d, %Y", "%Y-%m-%d", "%d.%m.%Y")
SCOPES = {"PDF files": r"^[^.]*$|\.pdf$", "hex codes": "^#[0-9A-F]{6}$", "places in Zurich": "Zurich"}
FORMATS = {"DD.MM.YYYY": "%d.%m.%Y", "HH:MM": "%H:%M"}

_UNIT = "|".join(map(re.escape, UNITS))
_QUANTITY = re.compile(rf"(?P<number>-?\d[\d,]*|{'|'.join(NUMBERS)})\s*(?P<unit>{_UNIT})?(?!\w)")
_CLOCK = re.compile(rf"(?P<clock>\d\d?:\d\d)\s*(?P<zone>{'|'.join(ZONES)})?")


class Declined(Exception):
    """The documentation does not allow it; the message says what it does not allow."""


class Parameter(msgspec.Struct, frozen=True):
    """A parameter as it is documented."""

    name: str
    schema: Mapping[str, Any]

    @property
    def said(self) -> str:
        return str(self.schema.get("description", ""))

    def value_for(self, words: str) -> Any:
        """What somebody's words come to, by the rules that are documented; the words themselves without any."""
        if choices := self.schema.get("enum") or _listed(self.said):
            return _chosen(words, choices)
        if self.schema.get("type") in ("integer", "number"):
            return self._number(words)
        if form := _first(FORMATS, self.said):
            return self._moment(words, form)
        if re.fullmatch('".+"', words, re.DOTALL):
            words = words[1:-1]
        if "quoted as in a shell" in self.said:
            return shlex.join(words.split())
        prefix = _prefix(self.said)
        return words if words.startswith(prefix) else prefix + words

    def objection_to(self, value: Any) -> str:
        """What the documentation has against a value, in words; empty if it has nothing."""
        if isinstance(value, str):
            return self._objection_to_text(value)
        if (limits := re.search(r"from (\d+) to (\d+)", self.said)) and not (
            int(limits[1]) <= value <= int(limits[2])
        ):
            return f"{self.name} goes {limits[0]}"
        if (least := re.search(r"more than (\d+)", self.said)) and value <= int(least[1]):
            return f"{self.name} is {least[0]}"
        return ""

    def _objection_to_text(self, text: str) -> str:
        if not text.strip():
            return f"{self.name} is not told"
        if (longest := re.search(r"at most (\d+) characters", self.said)) and len(text) > int(longest[1]):
            return f"{self.name} has {longest[0]}"
        if not text.startswith(_prefix(self.said)):
            return f"{self.name} begins with {_prefix(self.said)}"
        if (form := _first(FORMATS, self.said)) and _read_moment(text, FORMATS[form]) is None:
            return f"{self.name} is written {form}"
        if "quoted as in a shell" in self.said and _or_none(lambda: shlex.split(text)) is None:
            return f"{self.name} is quoted as in a shell"
        if (listed := _listed(self.said)) and text not in listed:
            return f"{self.name} is one of {', '.join(listed)}"
        return ""

    def _number(self, words: str) -> int:
        found = _QUANTITY.search(words)
        if found is None:
            raise Declined(f"'{words}' is no number")
        number = Fraction(NUMBERS.get(found["number"]) or found["number"].replace(",", ""))
        unit = re.search(rf"\bin ({_UNIT})(?!\w)", self.said)
        if unit and found["unit"]:
            number *= UNITS[found["unit"]] / UNITS[unit[1]]
        return round(number)

    def _moment(self, words: str, form: str) -> str:
        if form == "HH:MM" and (found := _CLOCK.search(words)):
            clock = datetime.strptime(found["clock"], "%H:%M")
            if "UTC" in self.said:
                clock -= timedelta(hours=ZONES[found["zone"] or "UTC"])
            return f"{clock:%H:%M}"
        days = [day for each in DAYS if (day := _read_moment(words, each)) is not None]
        return days[0].strftime(FORMATS[form]) if days else words


class Documentation(msgspec.Struct, frozen=True):
    """A tool as an agent is told about it."""

    name: str
    description: str
    schema: Mapping[str, Any]

    @property
    def purpose(self) -> Purpose:
        return PURPOSES[self.name]

    @property
    def parameters(self) -> list[Parameter]:
        return [Parameter(name, schema) for name, schema in self.schema["properties"].items()]

    def places(self) -> dict[str, Parameter]:
        """The parameter for each thing that a request tells."""
        return {self.purpose.place_of(each.name, each.said): each for each in self.parameters}

    def arguments_for(self, words: Mapping[str, str]) -> dict[str, Any]:
        """The arguments that a user's words come to. Raises `Declined`."""
        given = dict[str, Any]()
        for place, parameter in self.places().items():
            value = parameter.value_for(words[place])
            if f"Defaults to {value}." not in parameter.said:
                given[parameter.name] = value
        self.check(given)
        return given

    def _check_scope(self, word: str) -> None:
        """Raise `Declined` for what the tool as a whole is not made for."""
        only = re.search(r"takes ([\w ]+) only", self.description)
        if only and not re.search(SCOPES[only[1]], word):
            raise Declined(f"it {only[0]}")

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Raise `Declined` for arguments that the documentation does not allow."""
        if misfit := fits(self.schema, arguments):
            raise Declined(misfit)
        for value in arguments.values():
            self._check_scope(str(value))
        for parameter in self.parameters:
            if parameter.name in arguments and (
                objection := parameter.objection_to(arguments[parameter.name])
            ):
                raise Declined(objection)
            other = re.search(r"not before the (\w+)", parameter.said)
            if other and arguments[parameter.name] < arguments[other[1]]:
                raise Declined(f"{parameter.name} is {other[0]}")

    def request_for(self, arguments: Mapping[str, Any]) -> str:
        """What somebody says to whom these arguments are as documented."""
        words = {
            place: str(arguments.get(each.name, each.schema.get("default", "")))
            for place, each in self.places().items()
        }
        return self.purpose.ask(words)


class ReaderModel:
    """A server whose model reads; `more` are answers beside or in the place of its usual ones."""

    def __init__(self, more: Mapping[Stage, Answer] | None = None) -> None:
        self._declined = dict[str, str]()
        self._more = more or {}
        self.server = ScriptedServer(self._script())

    def _script(self) -> Script:
        answers: dict[Stage, Answer] = {
            "natural": _usual_arguments,
            "request": _write_requests,
            "templates": _write_templates,
            "infills": _write_infills,
            "humanise": _humanise,
            "emulate": lambda prompt: {"answer": _truth(fenced_in(prompt)[1])},
            "majority": _agree,
            "judge": _judge,
            "declined": _find_reason,
            "refusal": _be_surprised,
            "foretold": _foresee,
        }
        return plays({**answers, **self._more}, self._act, self._conclude)

    def _act(self, request: str, _: list[str]) -> Sequence[Call]:
        """What the agent does: it calls the tools that it was told about as their documentation wants it."""
        tools = self._documentation(request)
        try:
            if request.startswith(EXACTLY):
                return [_checked(tools, line) for line in fenced_in(request)[0].split("\n")]
            return [call for tool in tools.values() if (call := _call(tool, request)) is not None]
        except Declined as error:
            self._declined[request] = f"I can't do that: {error}."
            return []

    def _conclude(self, prompt: str) -> str:
        """The last that a tool has said, or why there was no call."""
        refused = [said for request, said in self._declined.items() if prompt.endswith(request)]
        return refused[0] if refused else last_result(prompt)

    def _documentation(self, request: str) -> dict[str, Documentation]:
        """The tools that have come along with a request."""
        body = next(each.body for each in reversed(self.server.requests) if _asks(each, request))
        functions = [tool["function"] for tool in body["tools"]]
        told = [Documentation(each["name"], each["description"], each["parameters"]) for each in functions]
        return {each.name: each for each in told}


def _asks(recorded: Recorded, request: str) -> bool:
    messages = recorded.body.get("messages", ())
    return any(each["role"] == "user" and each["content"] == request for each in messages)


def _call(tool: Documentation, request: str) -> Call | None:
    words = tool.purpose.hear(request)
    return None if words is None else Call(tool.name, json.dumps(tool.arguments_for(words)))


def _checked(tools: Mapping[str, Documentation], line: str) -> Call:
    """A call as it was dictated, if the documentation allows it."""
    name, arguments = _dictated(line)
    tools[name].check(arguments)
    return Call(name, json.dumps(arguments))


def _dictated(line: str) -> tuple[str, dict[str, Any]]:
    name, _, arguments = line.partition("(")
    return name, json.loads(arguments.removesuffix(")"))


def _documented_in(prompt: str, at: int = 0) -> Documentation:
    found = re.search(
        r"Name: (?P<name>.*?)\nDescription: (?P<said>.*)\nParameters: (?P<schema>.*)",
        fenced_in(prompt)[at],
        re.DOTALL,
    )
    assert found
    return Documentation(found["name"], found["said"], json.loads(found["schema"]))


def _write_requests(prompt: str) -> object:
    tool = _documented_in(prompt)
    _, arguments = _dictated(fenced_in(prompt)[1].split("\n")[-1])
    return {"requests": [tool.request_for(arguments)]}


def _usual_arguments(prompt: str) -> object:
    """Arguments that people use, as the documentation wants them."""
    tool, found = _documented_in(prompt), list[dict[str, Any]]()
    usual = tool.purpose.usual
    for words in zip_longest(*usual.values()):
        try:
            found.append(tool.arguments_for(dict(zip(usual, words, strict=True))))
        except Declined:
            continue
    return {"arguments": found} if found else "Nobody would use it like this."


def _write_templates(prompt: str) -> object:
    return {"templates": [_documented_in(prompt).purpose.template]}


def _write_infills(prompt: str) -> object:
    return {"infills": _documented_in(prompt, 1).purpose.same}


def _humanise(prompt: str) -> object:
    return {"requests": [f"hey, quick question. {each}" for each in json.loads(fenced_in(prompt)[0])]}


def _agree(prompt: str) -> object:
    (most, _), *_ = Counter(json.loads(fenced_in(prompt)[0])).most_common(1)
    return {"statement": most}


def _judge(prompt: str) -> object:
    """Whether the answer has what is true in it, whatever else is said to be known."""
    request, answer, *_ = fenced_in(prompt)
    truth = _truth(request)
    return {"reason": f"the truth is: {truth}", "score": 9 if truth in answer else 2}


def _find_reason(prompt: str) -> object:
    """The words of the documentation that an answer gives as its reason."""
    said = re.search(r"it (takes [\w ]+ only)", fenced_in(prompt)[2])
    has_it = said is not None and said[1] in _documented_in(prompt).description
    return {"declined": has_it, "quote": said[1] if said and has_it else ""}


def _be_surprised(prompt: str) -> object:
    """Whether the documentation allows the call that was refused."""
    _, arguments = _dictated(fenced_in(prompt)[2].split("\n")[-1])
    try:
        _documented_in(prompt).check(arguments)
    except Declined as error:
        return {"reason": f"it says so: {error}", "surprising": False}
    return {"reason": "nothing says so", "surprising": True}


def _foresee(prompt: str) -> object:
    """The same, asked the other way round."""
    _, arguments = _dictated(fenced_in(prompt)[1].split("\n")[-1])
    try:
        _documented_in(prompt, at=3).check(arguments)
    except Declined as error:
        return {"reason": f"it says so: {error}", "foreseen": True}
    return {"reason": "nothing says so", "foreseen": False}


def _truth(request: str) -> str:
    return next(each.answer(request) for each in PURPOSES.values() if each.hear(request) is not None)


def _chosen(words: str, choices: Sequence[str]) -> str:
    found = [each for each in choices if re.search(rf"\b{re.escape(each)}\b", words, re.IGNORECASE)]
    if not found:
        raise Declined(f"'{words}' is none of {', '.join(choices)}")
    return found[0]


def _listed(said: str) -> list[str]:
    """The values that a text names as all there are."""
    found = re.search(r"\bone of ([\w, ]+) or (\w+)", said)
    return [*found[1].split(", "), found[2]] if found else []


def _prefix(said: str) -> str:
    found = re.search(r"the prefix '([^']+)'", said)
    return found[1] if found else ""


def _first(known: Mapping[str, str], said: str) -> str:
    return next((each for each in known if each in said), "")


def _read_moment(text: str, form: str) -> datetime | None:
    return _or_none(lambda: datetime.strptime(text, form))


def _or_none(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except ValueError:
        return None
