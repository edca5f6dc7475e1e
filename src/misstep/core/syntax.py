"""Python code read by one thread at a time: Python itself counts wrongly where two of them do so at once."""

import ast
import threading
import warnings

TRIES = 3  # for others may read code meanwhile: agents, and Python itself where it words an error

_lock = threading.RLock()  # what tidies up meanwhile may read code too


def parse_module(code: str | bytes) -> ast.Module | None:
    """The code as a tree; None where it is none that Python could read."""
    tree = _parsed(code, "exec")
    return tree if isinstance(tree, ast.Module) else None


def parse_expression(code: str) -> ast.expr | None:
    """The same for an expression."""
    tree = _parsed(code, "eval")
    return tree.body if isinstance(tree, ast.Expression) else None


def _parsed(code: str | bytes, mode: str) -> ast.AST | None:
    with _lock, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is odd about code is its author's business
        for _ in range(TRIES):
            try:
                return ast.parse(code, mode=mode)
            except SystemError:
                continue
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                return None
    return None
