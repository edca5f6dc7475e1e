"""Boundary values of each type, whatever the schema says, and the parameters that take file names."""

import json
import re
import sys
from collections.abc import Mapping, Sequence
from math import inf, nextafter
from typing import Any

from misstep.core.tool import Described, Path
from misstep.fuzzing.inputs.semantic import kinds_within, topics_for
from misstep.fuzzing.inputs.slots import ArgumentSlot, slots_within
from misstep.schemas.samples import words_of
from misstep.schemas.shape import flatten, mapping

WORDS = (
    "a", "data", "Oslo", "hello world", "x1", "42", "3.5", "test", "Hello, World!", "foo_bar", "key=value",
    "report.txt", "true", "null", "A-B", "é", "日本", "it's", "50%", "a,b,c", "#1", "name@example.com",
)  # fmt: skip

TEXTS = (
    "", " ", "\n", "\t", "\r\n", "\0", "a\0b", "'", '"', "`", "\\", "'\"", "'; --", "${x}", "{}", "{0}", "%s",
    "%", "<b>", "&amp;", "null", "None", "nan", "-1", "0", "1e309", "../..", "~", "*", "-", "--help", ".",
    "a" * 256, "a\nb", " a ", "A" * 64 + "\0",
    "\ud800", "\udfff", "a\udc80b",  # lone surrogates
    "\u202eabc", "שלום", "\u200b", "\ufeff", "\ufffe", "e\u0301", "Z\u0351\u036b\u0343", "ß", "ı", "İ",
    "👩‍👩‍👧‍👦", "𝟘", "٣", "½", "ﬀ", "\U0010ffff", "\x1b[31m", "\x7f",
)  # fmt: skip

HUGE = ("a" * 10_000, "a b\n" * 10_000, "9" * 5_000, "(" * 20_000, "é" * 30_000, "x" * 100_000)

INTEGERS = (
    0, 1, -1, 2, 10, 100, 127, 128, 255, 256, 1000, 65535, 65536, 2**31 - 1, 2**31, -(2**31), -(2**31) - 1,
    2**32, 2**53, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**18, 10**30,
)  # fmt: skip

FLOATS = (
    0.0, -0.0, 0.5, -0.5, 1.0, 0.1 + 0.2, 1e-7, 5e-324, sys.float_info.min, sys.float_info.epsilon, 1e16,
    1.5e300, 1e308, sys.float_info.max, -sys.float_info.max, -1e-300,
)  # fmt: skip

NAMES = ("", " ", "__proto__", "constructor", "__class__", "$ref", "a.b", "0", "é", "a\nb", "\0", "x" * 300)


def beyond(limit: int | float, up: bool, whole: bool) -> list[int | float]:
    """Numbers just past a limit, and far past it."""
    sign = 1 if up else -1
    far: list[int | float] = [limit + sign, limit + sign * 1000, sign * 2**31, sign * 2**63]
    if not whole and abs(limit) < 10**300:
        far += [nextafter(float(limit), sign * inf), float(limit) + sign * 0.5]
    return [limit, *far]


ANYTHING: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**63, -0.0, 1e308, "", "\0", "\ud800", [], {}, [[]], [None], {"": None},
    [1, "a", None], {"a": {"b": []}}, json.loads("[" * 61 + "]" * 61),
    json.loads('{"a":' * 60 + "{}" + "}" * 60), "a" * 10_000, list(range(1000)),
)  # fmt: skip

# A few values of each type, none of which also has another type.
BY_KIND: dict[str, tuple[Any, ...]] = {
    "string": ("abc", "", "1", "true"),
    "integer": (0, 1, -1, 7),
    "number": (1.5, -0.25),
    "boolean": (True, False),
    "array": ([], ["abc"], [1, 2]),
    "object": ({}, {"a": 1}),
    "null": (None,),
}


TOPICS = ("path", "directory")


def file_places(schema: Mapping[str, Any]) -> list[Path]:
    """Paths of text parameters that mainly concern files or folders."""
    slots = list(slots_within(ArgumentSlot((), schema), schema))
    found = [slot.path for slot in slots if _wants_file(slot, schema)]
    made = {path[:-1] for path in found if is_new_file(path)}  # what is next to a new file is an old one
    beside = [slot.path for slot in slots if slot.path and slot.path[:-1] in made and slot.name in _OLD]
    return [*found, *[path for path in beside if path not in found]]


# Words in the name and description of a tool, and the likely ends of names of files that it works on.
FITTING = {
    r"excel|xlsx|spreadsheets?|workbooks?|worksheets?": (".xlsx",),
    r"sqlite|sql|databases?|db": (".db", ".sqlite"),
    r"pdfs?": (".pdf",),
    r"docx|word documents?": (".docx",),
    r"png": (".png",),
    r"jpe?g": (".jpg",),
    r"images?|pictures?|photos?": (".png", ".jpg"),
    r"zip|unzip|archives?|tar|tarballs?": (".zip", ".tar.gz"),
    r"csv": (".csv",),
    r"jupyter|notebooks?|ipynb": (".ipynb",),
    r"power ?points?|pptx?|presentations?|slides?": (".pptx",),
    r"notes?|markdown|vaults?": (".md",),
    r"draw\.?io|diagrams?": (".drawio",),
    r"mermaid|diagrams?": (".mmd",),
    r"xml": (".xml",),
    r"type ?script": (".ts",),
    r"java ?script|eslint": (".js",),
}
PLAIN = (".txt", ".md")  # files that most tools can read, whatever they are for
ENDING = re.compile(r"(?<!\w)\.[a-z][a-z0-9]{1,6}\b")
REPOSITORY = r"git|repositor(?:y|ies)|commits?"
FOLDERS = r"director(?:y|ies)|dirs?|folders?|root|cwd|workspace"


def files_for(described: Described, path: Path, files: Sequence[str]) -> Sequence[str]:
    """The files that a tool works on, by its name and description; all of them if that is unclear.

    `path` is the place in its arguments that they are for.
    """
    parameter = mapping(mapping(described.tool.parameters.get("properties")).get(str(path[0])))
    told = f"{path[-1]} {parameter.get('description')}".lower()
    if "absolute" in told and "relative" not in told:
        files = [file for file in files if file.startswith("/")] or files
    if is_new_file(path):
        return _new_files(described, path, files)
    names = " ".join(words_of(f"{described.name} {path[-1]}"))
    folders = [file for file in files if any(other.startswith(f"{file}/") for other in files)]
    words = " ".join([*words_of(described.name), described.tool.description]).lower()
    found = [file.removesuffix("/.git") for file in files if file.endswith("/.git")]
    repositories = found if _has(words, REPOSITORY) else []
    if _has(" ".join(words_of(str(path[-1]))), FOLDERS):  # what kind of files it has does not matter
        return list(dict.fromkeys([*repositories, ".", *folders]))
    endings = endings_for(words) + tuple(ENDING.findall(described.tool.description.lower()))
    fitting = [file for ending in dict.fromkeys(endings) for file in files if file.endswith(ending)]
    if _has(names, FOLDERS) and not fitting and not _has(words, REPOSITORY):
        fitting = folders
    return [*fitting, *repositories] or sorted(files, key=lambda file: not file.endswith(PLAIN))


_NEW = frozenset(("destination", "dest", "dst", "new", "output"))
_OLD = frozenset(("source", "src", "from"))
NEW_FILES = 16


def is_new_file(path: Path) -> bool:
    """Whether a place takes the name of a file that a tool makes, such as `newPath`."""
    return bool(_NEW & {*words_of(str(path[-1]))})


def _new_files(described: Described, path: Path, files: Sequence[str]) -> list[str]:
    """Names of files that are not there, of the kind that the tool works on; then those that are there."""
    older = files_for(described, (*path[:-1], "path"), files)
    folder = older[0].rpartition("/")[0] if older and older[0].startswith("/") else ""
    stem, dot, ending = (older[0] if older else "").rpartition("/")[2].rpartition(".")
    ending = f".{ending}" if stem and dot else ""
    new = [f"{folder}/" * bool(folder) + f"new{number}{ending}" for number in range(1, NEW_FILES + 1)]
    return [*new, *older]


def endings_for(words: str) -> tuple[str, ...]:
    """The ends of names of the kinds of files that a text in lower case is about."""
    return tuple(each for kind, ends in FITTING.items() if _has(words, kind) for each in ends)


def _has(text: str, pattern: str) -> bool:
    return re.search(rf"(?<![a-z])(?:{pattern})(?![a-z])", text) is not None


def _wants_file(slot: ArgumentSlot, root: Mapping[str, Any]) -> bool:
    flat = flatten(slot.schema, root) or {}
    if "string" not in kinds_within(flat, root) or "enum" in flat:
        return False
    topics = topics_for(slot.name, slot.description, flat.get("format"))
    return bool(topics) and topics[0].name in TOPICS
