"""Puts an exception that left a tool into a value that can leave the process too."""

from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, TypeAlias

from misstep.core.ours import is_ours
from misstep.core.tool import Frame, Raised
from misstep.core.transcript import storable
from misstep.core.words import cut, in_words
from misstep.tooling.judging.exceptions.raising import made_by_raise

MESSAGE = 2_000  # characters
NAME = 200
OUTER, INNER = 8, 24  # frames that are kept of very many, at either end
DEEPEST = 20  # exceptions within exceptions, or because of them
MOST_BASES = 12
MOST_WALKED = 100_000  # frames; only a traceback that was tied into a knot has more


# Whatever checks arguments on the way to a tool, by the names of its exceptions.
_CHECKERS = frozenset({"ValidationError", "ArgumentsRefused", "RequestValidationError", "SchemaError"})
_BINDING = ("missing", "unexpected keyword", "positional argument", "multiple values for")

Owns: TypeAlias = Callable[[str], bool]


def describe_exception(error: BaseException, owns: Owns) -> Raised:
    """What is to be known of an exception that left a tool; `owns` says whether a file is the tool's own.

    Of a group, and of an exception that somebody else's code has put around another, it is the first one
    that went through the tool's own code. Frames of misstep are left out, as are those before the tool's.
    """
    seen = _Files(owns)
    outermost = _lead(_walk(error), seen)
    telling = next((each for each in _related(error) if any(seen.own(tb) for tb in _walk(each))), None)
    chosen = _innermost_of_group(error) if telling is None else telling
    way = list(_walk(chosen))
    frames = (
        _frames(way, seen) if telling is not None or chosen is error else [*outermost, *_frames(way, seen)]
    )
    own = any(frame.own for frame in frames)
    message = _message(chosen)
    return Raised(
        kind=_name(type(chosen)),
        message=message,
        bases=tuple(_qualified(each) for each in type(chosen).__mro__[:MOST_BASES] if each is not object),
        frames=tuple(_few(frames)),
        deliberate=bool(way)
        and seen.own(way[-1])
        and made_by_raise(way[-1], chosen)
        and _new(chosen, message)
        and _is_sayable(chosen),
        validation=not own and _is_check(chosen, message),
    )


class _Files:
    """Whose code a place in a traceback is in, asked once per file."""

    def __init__(self, owns: Owns) -> None:
        self._owns = owns
        self._known: dict[str, bool] = {}

    def own(self, place: TracebackType) -> bool:
        file = place.tb_frame.f_code.co_filename
        if file not in self._known:
            self._known[file] = not is_ours(file) and self._asked(file)
        return self._known[file]

    def _asked(self, file: str) -> bool:
        try:
            return bool(self._owns(file))
        except (OSError, ValueError):  # such as a name that is no path
            return False


def _frames(way: list[TracebackType], seen: _Files) -> list[Frame]:
    """The frames from the tool's first one on, or all where it has none."""
    first = next((number for number, place in enumerate(way) if seen.own(place)), 0)
    return _lead(iter(way[first:]), seen)


def _lead(way: Iterator[TracebackType], seen: _Files) -> list[Frame]:
    return [_frame(place, seen) for place in way if not is_ours(place.tb_frame.f_code.co_filename)]


def _frame(place: TracebackType, seen: _Files) -> Frame:
    code = place.tb_frame.f_code
    file, function = storable(cut(code.co_filename, NAME)), storable(cut(code.co_name, NAME))
    return Frame(file=file, line=place.tb_lineno or 0, function=function, own=seen.own(place))


def _few(frames: list[Frame]) -> list[Frame]:
    """The outermost and the innermost frames, with the innermost of the tool's own among them."""
    if len(frames) <= OUTER + INNER:
        return frames
    own = [number for number, frame in enumerate(frames) if frame.own][-1:]
    kept = {*range(OUTER), *own, *range(len(frames) - INNER, len(frames))}
    return [frames[number] for number in sorted(kept)]


def _walk(error: BaseException) -> Iterator[TracebackType]:
    place = _own_attribute(error, "__traceback__")
    for _ in range(MOST_WALKED):
        if place is None:
            return
        yield place
        place = place.tb_next


def _related(error: BaseException) -> Iterator[BaseException]:
    """The exception, those in it if it is a group, and what it was raised because of; each once."""
    waiting, seen = [error], set[int]()
    while waiting and len(seen) < DEEPEST:
        each = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, BaseExceptionGroup):
            waiting[:0] = each.exceptions[:DEEPEST]
        else:
            yield each
        waiting.extend(_reasons(each))


def _reasons(error: BaseException) -> list[BaseException]:
    cause, context = _own_attribute(error, "__cause__"), _own_attribute(error, "__context__")
    return [each for each in (cause, context) if each is not None][:1]


def _innermost_of_group(error: BaseException) -> BaseException:
    for _ in range(DEEPEST):
        if not isinstance(error, BaseExceptionGroup) or not error.exceptions:
            break
        error = error.exceptions[0]
    return error


def _own_attribute(error: BaseException, name: str) -> Any:
    """An attribute as BaseException has it, whatever a class of the tool's makes of it."""
    return getattr(BaseException, name).__get__(error)


def _message(error: BaseException) -> str:
    return storable(cut(in_words(error), MESSAGE))


def _is_sayable(error: BaseException) -> bool:
    """Whether it says anything at all: to be put into words breaks some exceptions themselves."""
    try:
        str(error)
    except BaseException:
        return False
    return True


def _new(error: BaseException, message: str) -> bool:
    """Whether it says more than what it was raised because of said already."""
    return all(message.strip() != _message(reason).strip() for reason in _reasons(error))


def _is_check(error: BaseException, message: str) -> bool:
    if any(_name(each) in _CHECKERS for each in type(error).__mro__):
        return True
    return isinstance(error, TypeError) and any(words in message for words in _BINDING)


def _name(kind: type) -> str:
    name = type.__dict__["__name__"].__get__(kind)
    return storable(cut(str(name), NAME))


def _qualified(kind: type) -> str:
    module = kind.__dict__.get("__module__")
    plain = _name(kind)
    return (
        plain
        if not isinstance(module, str) or module == "builtins"
        else storable(cut(f"{module}.{plain}", NAME))
    )
