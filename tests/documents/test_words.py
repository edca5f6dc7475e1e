"""Phrases that readers stumble over are nowhere in what users see: messages, help, pages, documentation."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.documents.pages import PAGES, ROOT, text_of

# What to write instead stands behind each.
BANNED = {
    r"\bwon't do\b": "invalid value …",
    r"\bwill do\b(?=[.;:)]|$)": "is enough",
    r"\bis come by\b|\bare come by\b": "is generated",
    r"\bnone of (?:its|their|your|our) business\b": "unrelated",
    r"\b(?:go|goes|gone|went|going) on with\b": "resume",
    r"\bis going on\b": "is running",
    r"\bmend(?:s|ed|ing)?\b": "fix",
    r"\b(?:blind |bad |by )luck\b": "chance level",
    r"\brecognised by (?:it|them)sel": "detected automatically",
    r"\bnobody is at it\b": "stopped",
    r"\bfor want of\b": "for lack of",
    r"\bwithout a word\b": "silently",
    r"\bleft the tool\b": "unhandled exception",
    r"\bstands? there\b|\bis there twice\b": "appears twice",
    r"(?<!there )\b(?:is|are) no (?:JSON|text|name|agent|tool|function|file|folder|number|messages?|table)\b": "is not a",
    r"\bas small as (?:it|they) gets?\b|\bas small as can be\b": "minimise",
    r"\banew\b": "again",
    r"\btells? of\b": "reports",
    r"\bspeaks? of\b": "mentions",
    r"\bput(?:s|ting)? (?:it |them )?to the agent\b": "tried with the agent",
    r"\bserved differently\b": "get different answers",
    r"\bmean the same get\b": "paraphrases get",
    r"\bnobody (?:needs|knows|asked|could say)\b": "distractor, unknown, not asked",
    r"\btools that nobody\b": "distractor tools",
    r"\bmakes? no sense of\b": "can't parse",
    r"\bno false alarms?\b|\bverdict is a proof\b": "say what is proved, and what is not",
}
PATTERN = re.compile("|".join(f"(?:{each})" for each in BANNED), re.IGNORECASE)
COMMENT = re.compile(r"/\*.*?\*/|(?:^|(?<=\s))//.*?$", re.DOTALL | re.MULTILINE)
SOURCE = ROOT / "src" / "misstep"
# Requests and file names that models and agents are given are data, not words of ours.
DATA = {"features/bench/suites.py", "benchmarks/files", "planning/language", "schemas/samples.py"}


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The texts of a module that are not comments or docstrings, with their lines."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    hidden = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented)
        and node.body
        and isinstance(node.body[0], ast.Expr)
        # The docstring of a command is its help.
        and not any("command(" in ast.unparse(each) for each in getattr(node, "decorator_list", ()))
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden:
            yield node.lineno, node.value


def modules() -> list[Path]:
    return sorted(
        path
        for path in SOURCE.rglob("*.py")
        if not path.relative_to(SOURCE).as_posix().startswith(tuple(DATA))
    )


def found(text: str) -> list[str]:
    return [each[0] for each in PATTERN.finditer(text)]


def test_no_message_has_a_banned_phrase() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {phrase}"
        for path in modules()
        for line, text in texts(path)
        for phrase in found(text)
    ]
    assert wrong == []


@pytest.mark.parametrize("suffix", ["html", "js", "txt"])
def test_no_page_and_no_prompt_has_a_banned_phrase(suffix: str) -> None:
    files = [path for path in SOURCE.rglob(f"*.{suffix}") if "echarts" not in path.name]
    assert files
    wrong = [
        f"{path.relative_to(ROOT)}: {phrase}"
        for path in files
        for phrase in found(COMMENT.sub("", path.read_text(encoding="utf-8")))
    ]
    assert wrong == []


@pytest.mark.parametrize("page", [page for page in PAGES if page != "benchmarks/RESULTS.md"])
def test_no_page_of_the_documentation_has_a_banned_phrase(page: str) -> None:
    lines = enumerate(text_of(page).splitlines(), 1)
    assert [f"{number}: {phrase}" for number, line in lines for phrase in found(line)] == []


@pytest.mark.parametrize(
    "text",
    [
        "'lots' won't do",
        "it can't be gone on with",
        "the tool is mended",
        "what blind luck would reach",
        "IndexError left the tool",
        "'x' is no agent of this framework",
        "Tools that nobody needs",
    ],
)
def test_banned_phrases_are_found(text: str) -> None:
    assert found(text)


@pytest.mark.parametrize("text", ["there is no tool 'x'", "recommended", "it is no longer there", "goes on"])
def test_other_phrases_are_left_alone(text: str) -> None:
    assert not found(text)
