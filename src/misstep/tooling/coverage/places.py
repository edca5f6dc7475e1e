"""Numbers for places in code that are the same in every process."""

import hashlib
import os
from types import CodeType
from typing import TypeAlias

BITS = 24  # of a place; an edge is two places with a class of counts, and fits into a double
MOST_ERRORS = 64  # exceptions of one call, by their places, that are remembered
_FROM_THE_END = 3  # parts of a file's path that tell it from others wherever the code is installed


# The last exception that came through a place in a call, by the function and the line or instruction.
Errors: TypeAlias = dict[tuple[int, int], BaseException]


class Lines(dict[int, int]):
    """The numbers of a function's lines, each made when the line is first asked for, that is, run."""

    __slots__ = ("_name",)

    def __init__(self, code: CodeType) -> None:
        super().__init__()
        file = "/".join(code.co_filename.replace("\\", "/").split("/")[-_FROM_THE_END:])
        self._name = f"{file}\n{code.co_qualname}\n".encode(errors="surrogatepass")

    def __missing__(self, line: int) -> int:
        digest = hashlib.blake2b(self._name + b"%d" % line, digest_size=BITS // 8).digest()
        number = self[line] = int.from_bytes(digest, "big") or 1  # nought is where a call begins
        return number


class Places:
    """The lines of a tool's own code that have been run, by function.

    Code is kept, lest another one gets its address.
    """

    def __init__(self) -> None:
        self._functions = dict[int, tuple[CodeType, Lines]]()

    def lines_of(self, code: CodeType) -> Lines:
        found = self._functions.get(id(code))
        if found is None:
            found = self._functions[id(code)] = (code, Lines(code))
        return found[1]

    def run_in(self, file: str) -> set[int]:
        """The lines of a file that have been run."""
        resolved = os.path.realpath(file)
        functions = list(self._functions.values())
        return {line for code, lines in functions if _is_from(code, file, resolved) for line in list(lines)}


def _is_from(code: CodeType, file: str, resolved: str) -> bool:
    return code.co_filename == file or os.path.realpath(code.co_filename) == resolved
