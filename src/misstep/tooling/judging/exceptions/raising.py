"""Tells an exception that code raised in so many words from one that happened to it."""

from dis import opmap
from types import TracebackType

_RAISE = opmap["RAISE_VARARGS"]
_ASSERTION = opmap.get("LOAD_ASSERTION_ERROR")  # later versions have another way to say it
_COMMON = opmap.get("LOAD_COMMON_CONSTANT")
_ENDS = frozenset(opmap[name] for name in ("RAISE_VARARGS", "RERAISE", "RETURN_VALUE") if name in opmap)


def made_by_raise(place: TracebackType, error: BaseException) -> bool:
    """Whether a `raise` with something to raise stands there; `assert` is not that."""
    code, at = place.tb_frame.f_code.co_code, place.tb_lasti
    if not 0 <= at < len(code) - 1 or code[at] != _RAISE or not code[at + 1]:
        return False
    return not (isinstance(error, AssertionError) and _is_assert(code, at))


def _is_assert(code: bytes, at: int) -> bool:
    """Whether what is raised was loaded by an `assert` since the last statement that ends a block."""
    for place in range(at - 2, -1, -2):
        if code[place] == _ASSERTION or (code[place] == _COMMON and code[place + 1] == 0):
            return True
        if code[place] in _ENDS:
            return False
    return False
