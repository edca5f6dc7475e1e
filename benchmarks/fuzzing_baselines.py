"""Simple fuzzers for tools, as baselines.

usage: python -m benchmarks.fuzzing_baselines CALLS SEEDS SPEC..., with an interpreter that has
hypothesis-jsonschema. Prints a JSON line for each tool, method and seed. The tools are called without a
sandbox: run this in one.
"""

import importlib
import importlib.util
import json
import linecache
import multiprocessing
import os
import random
import resource
import signal
import string
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

Arguments = dict[str, Any]
Call = Callable[[Arguments], object]
# Makes a number of calls with arguments that it chooses.
Method = Callable[[Mapping[str, Any], int, int, Call], None]

PATIENCE = 2.0  # seconds for one call
MEMORY = 1 << 30  # bytes beyond what is in use
MOST_HANGS = 3  # more are unlikely to be new, and take long
MOST_DEATHS = 3
BROKEN = 70  # the exit code of a process in which the fuzzer itself failed
ENVIRONMENT = {
    "ConnectionError",
    "ConnectTimeout",
    "ReadTimeout",
    "gaierror",
    "ModuleNotFoundError",
    "PermissionError",
}
PACKAGES = ("langchain_community", "langchain_experimental")  # what counts as a tool's own code, if installed


class Subject(msgspec.Struct, frozen=True):
    """A tool: its schema, how to call it, and where its own code is."""

    name: str
    schema: Mapping[str, Any]
    call: Call
    own: tuple[str, ...]


class Tally(msgspec.Struct, frozen=True):
    """The result of some calls: each unique error, with the number of the first call that showed it."""

    tool: str
    method: str
    seed: int
    calls: int
    found: dict[str, int]


class Hung(BaseException):
    """A call took too long."""


def draw_from_schema(schema: Mapping[str, Any], seed: int, calls: int, call: Call) -> None:
    """Values that Hypothesis draws from the schema alone."""
    hypothesis = importlib.import_module("hypothesis")
    from_schema = importlib.import_module("hypothesis_jsonschema").from_schema
    plain = hypothesis.settings(
        max_examples=calls,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    hypothesis.seed(seed)(plain(hypothesis.given(from_schema(dict(schema)))(call)))()


def draw_by_type(schema: Mapping[str, Any], seed: int, calls: int, call: Call) -> None:
    """Random values of the types that the schema names."""
    dice = random.Random(seed)
    for _ in range(calls):
        call(random_value(dice, schema, schema))


METHODS: dict[str, Method] = {"schema": draw_from_schema, "type": draw_by_type}


def random_value(
    dice: random.Random, schema: Mapping[str, Any], whole: Mapping[str, Any], deep: int = 0
) -> Any:
    """Any value of the schema's type; of the other keywords, only `enum` and property names are used."""
    if "$ref" in schema:
        return random_value(dice, whole["$defs"][schema["$ref"].rpartition("/")[2]], whole, deep + 1)
    if "enum" in schema:
        return dice.choice(schema["enum"])
    if "anyOf" in schema:
        return random_value(dice, dice.choice(schema["anyOf"]), whole, deep)
    match schema.get("type"):
        case "object":
            required = schema.get("required", ())
            return {
                name: random_value(dice, each, whole, deep + 1)
                for name, each in schema.get("properties", {}).items()
                if name in required or dice.random() < 0.5
            }
        case "array":
            size = 0 if deep > 5 else dice.randrange(6)
            return [random_value(dice, schema.get("items", {}), whole, deep + 1) for _ in range(size)]
        case kind:
            return _random_scalar(dice, kind)


def _random_scalar(dice: random.Random, kind: object) -> Any:
    match kind:
        case "integer":
            return dice.randint(-1000, 1000)
        case "number":
            return dice.uniform(-1000, 1000)
        case "boolean":
            return dice.random() < 0.5
        case "null":
            return None
    letters = string.printable if dice.random() < 0.8 else [chr(dice.randrange(0xD800)) for _ in range(20)]
    return "".join(dice.choices(letters, k=dice.randrange(40)))


def measure(subject: Subject, method: str, seed: int, calls: int) -> Tally:
    """Fuzz a tool in separate processes; if one dies, another one continues."""
    made, found, deaths = 0, dict[str, int](), 0
    while made < calls and deaths < MOST_DEATHS:
        count = multiprocessing.RawValue("l", 0)
        reading, writing = os.pipe()
        if not (process := os.fork()):
            os.close(reading)
            _work(subject, method, seed + 1000 * deaths, calls - made, count, writing)
        os.close(writing)
        with open(reading, encoding="utf-8") as lines:
            told = [json.loads(line) for line in lines]
        _, status = os.waitpid(process, 0)
        for error, number in told:
            found.setdefault(error, made + number)
        made += count.value
        code = os.waitstatus_to_exitcode(status)
        if code == BROKEN:
            raise RuntimeError(f"{method} does not work with {subject.name}")
        if code == 0:
            break
        deaths += 1
        found.setdefault("died", made)
    return Tally(subject.name, method, seed, made, found)


def _work(subject: Subject, method: str, seed: int, calls: int, count: Any, writing: int) -> None:
    """The work of one process: makes calls, and prints a line for every new error."""
    _limit_memory()
    errors, quiet = os.dup(2), os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(quiet, stream)
    signal.signal(signal.SIGALRM, _hang)
    seen, hangs = set[str](), 0

    def call(arguments: Arguments) -> None:
        nonlocal hangs
        count.value += 1
        error = outcome(subject, arguments)
        hangs += error == "hang"
        if error and error not in seen:
            seen.add(error)
            os.write(writing, f"{json.dumps([error, count.value])}\n".encode())
        if hangs >= MOST_HANGS:
            os._exit(0)

    try:
        METHODS[method](subject.schema, seed, calls, call)
    except BaseException as error:
        os.write(errors, "".join(traceback.format_exception(error)).encode())
        os._exit(BROKEN)
    os._exit(0)


def outcome(subject: Subject, arguments: Arguments) -> str:
    """The unique error that a call shows; empty if it returns, refuses, or fails for its environment."""
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)
        try:
            subject.call(arguments)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except Hung:
        return "hang"
    except MemoryError:
        return "memory"
    except BaseException as error:
        return unique_error(error, subject.own)
    return ""


def unique_error(error: BaseException, own: Sequence[str]) -> str:
    """Its type and innermost frame in the tool's own code; empty for refusals and the environment."""
    frames = traceback.extract_tb(error.__traceback__)
    inner = [frame for frame in frames if frame.filename.startswith(tuple(own))]
    kind = type(error).__name__
    if not inner or kind in ENVIRONMENT:
        return ""
    line = linecache.getline(inner[-1].filename, inner[-1].lineno or 0).strip()
    if inner[-1] is frames[-1] and line.startswith("raise "):
        return ""
    return f"{kind} {Path(inner[-1].filename).name}:{inner[-1].lineno}"


def _hang(*_: object) -> None:
    raise Hung


def _limit_memory() -> None:
    with open("/proc/self/statm", encoding="ascii") as sizes:
        used = int(sizes.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def load_subjects(spec: str) -> list[Subject]:
    """The tools in `file.py:name`, a list of functions or of LangChain's tools."""
    from misstep.adapters.toolset.spec import tools_from

    path, _, name = spec.rpartition(":")
    schemas = {tool.name: tool.parameters for tool in tools_from(spec)}
    sys.path.insert(0, str(Path(path).parent))
    module = importlib.import_module(Path(path).stem)
    return [_subject(tool, schemas, path) for tool in getattr(module, name)]


def _subject(tool: Any, schemas: Mapping[str, Mapping[str, Any]], path: str) -> Subject:
    if not hasattr(tool, "invoke"):
        folder = str(Path(path).parent)
        return Subject(tool.__name__, schemas[tool.__name__], lambda arguments: tool(**arguments), (folder,))
    places = [importlib.util.find_spec(package) for package in PACKAGES]
    own = tuple(str(Path(place.origin).parent) for place in places if place and place.origin)
    return Subject(tool.name, schemas[tool.name], tool.invoke, own)


def main(calls: int, seeds: int, *specs: str) -> None:
    importlib.import_module("hypothesis_jsonschema")  # once, rather than in every process
    for spec in specs:
        for subject in load_subjects(spec):
            for method in METHODS:
                for seed in range(seeds):
                    print(json.dumps(msgspec.to_builtins(measure(subject, method, seed, calls))), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])
