"""What a tool's source compares with and looks for: the constants in it."""

import ast
import textwrap

import msgspec

from misstep.core.syntax import parse_module

_MOST = 64
_LONGEST = 40


class Constants(msgspec.Struct, frozen=True):
    """Short texts and whole numbers, each once, in the order in which they come."""

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()


def constants_in(source: str) -> Constants:
    """The constants of a function, without its documentation; none where the source can't be read."""
    tree = parse_module(textwrap.dedent(source))
    if tree is None:
        return Constants()
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    found = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in documentation
    ]
    texts = (value for value in found if isinstance(value, str) and 0 < len(value) <= _LONGEST)
    numbers = (value for value in found if type(value) is int and abs(value) < 1 << 63)
    return Constants(tuple(dict.fromkeys(texts))[:_MOST], tuple(dict.fromkeys(numbers))[:_MOST])
