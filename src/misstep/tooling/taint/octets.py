"""Bytes that were made out of a marked text, and become one again."""

from typing import Any

from misstep.tooling.taint import marked
from misstep.tooling.taint.numbers import no_dictionary
from misstep.tooling.taint.record import Origin
from misstep.tooling.taint.text import text


@marked.passes_for(bytes)
class Octets(bytes):
    """Marked bytes."""

    __class__ = property(marked.class_asked_for)
    __dict__ = property(no_dictionary)
    _misstep_origin: Origin

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        return bytes(*args, **kwargs)  # asked for by somebody who has found out about the type

    fromhex = staticmethod(bytes.fromhex)  # type: ignore[assignment]

    def __hash__(self) -> int:
        marked.note_lookup(self)
        return bytes.__hash__(self)

    def __len__(self) -> int:
        length = bytes.__len__(self)
        marked.note_length(self, length)
        return length

    def __contains__(self, part: Any) -> bool:
        found = bytes.__contains__(self, part)
        self._misstep_origin.note("contains", part, found)
        return found

    def startswith(self, *args: Any) -> bool:
        answer = bytes.startswith(self, *args)
        self._misstep_origin.note("startswith", args[0], answer)
        return answer

    def decode(self, *args: Any, **kwargs: Any) -> Any:
        try:
            decoded = bytes.decode(self, *args, **kwargs)
        except UnicodeDecodeError:
            self._misstep_origin.note("decode", args[0] if args else kwargs.get("encoding", "utf-8"), False)
            raise
        return text(decoded, self._misstep_origin.step("decode"))

    def __copy__(self) -> "Octets":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Octets":
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        return bytes, (bytes.__bytes__(self),)


def octets(value: bytes, origin: Origin | None) -> bytes:
    if origin is None:
        return value
    made = bytes.__new__(Octets, value)
    made._misstep_origin = origin
    return made
