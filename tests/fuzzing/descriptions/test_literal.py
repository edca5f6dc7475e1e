"""Where docstrings stand, between which quotes, with which line ends."""

import ast

import pytest

from misstep.core.results.descriptions import Wording
from misstep.fuzzing.descriptions.docstring import DocstringChange, rewrite
from misstep.schemas.source import parse_docstring

CONTINUED = "    @cache\n    @other(\n        1\n    )\n    async def inner():\n        return a\n    return inner()\n"


def put(text: str, wording: Wording, line: int = 1) -> str:
    return rewrite(text, [DocstringChange(line, wording, "here")])


@pytest.mark.parametrize(
    "body",
    [
        "    @cache\n    def inner():\n        return a\n    return inner()\n",
        CONTINUED,
        "    @cache\n    class Inner:\n        b = a\n    return Inner()\n",
        "\n    # why\n\n    @cache\n    def inner():\n        return a\n",
    ],
    ids=["function", "coroutine", "class", "comment"],
)
def test_a_body_that_begins_with_a_decorator(body: str) -> None:
    at = body.index("    @cache")
    anew = put(f"def f(a):\n{body}", Wording("New."))
    assert anew == f'def f(a):\n{body[:at]}    """New."""\n{body[at:]}'


@pytest.mark.parametrize(
    "literal",
    [
        '"Old."',
        "'Old'",
        '"""Old."""',
        'r"""Old \\d."""',
        "R'''Old \\d \\\\.'''",
        "r'Old'",
        'r"""Old \\"x\\"."""',
    ],
)
@pytest.mark.parametrize(
    "text",
    ['A \\" now', 'It is "quoted"', "a \\", '"""', "It's ''' over \\", "\\d{2} \\n", "it's", '\\"', "''"],
)
def test_quotes_are_chosen_so_that_everything_can_be_said(literal: str, text: str) -> None:
    for wording in (Wording(text), Wording(text, {"a": text})):
        anew = put(f"def f(a):\n    {literal}\n    return a\n", wording)
        (function,) = ast.parse(anew).body
        assert isinstance(function, ast.FunctionDef)
        told = parse_docstring(ast.get_docstring(function) or "")
        assert (told.text, told.parameters) == (text, wording.parameters)
        assert anew.endswith("    return a\n")


def test_a_raw_text_stays_raw_where_it_can() -> None:
    text = 'def f(a):\n    r"""Old.\n\n    Args:\n        a: \\d \\" x\n    """\n'
    assert put(text, Wording("A \\w.")) == text.replace("Old.", "A \\w.")
    cooked = put(text, Wording('A """ b.'))
    assert cooked == 'def f(a):\n    """A \\"\\"\\" b.\n\n    Args:\n        a: \\\\d \\\\" x\n    """\n'


MIXED = (
    'x = 1\r\ny = 2\n\ndef f(a, b):\n    """Old.\n\n    Args:\r\n        a: x  \r\n'
    '    \t\n    \n        b: y"""\n    return a\r'
)


def test_lines_that_are_not_touched_keep_their_ends() -> None:
    assert put(MIXED, Wording("New."), 4) == MIXED.replace("Old.", "New.")
    assert put(MIXED, Wording("New.\n\nMore."), 4) == MIXED.replace("Old.", "New.\n\n    More.")
    assert put(MIXED, Wording(parameters={"b": "z"}), 4) == MIXED.replace("b: y", "b: z")


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_new_lines_end_like_those_beside_them(end: str) -> None:
    other = "\n" if end != "\n" else "\r\n"
    text = f"x = 1{other}def f(a):{end}    return a{other}"
    docstring = f'    """New.{end}{end}    More.{end}    """{end}'
    assert put(text, Wording("New.\n\nMore."), 2) == text.replace("    return", docstring + "    return")
