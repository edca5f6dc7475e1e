"""Reads what a file of weights says about itself, as a second opinion on what we took from it by hand."""

import struct
from pathlib import Path
from typing import Any, BinaryIO

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
CONTROL = 3  # the type of a token that is no text


def read_metadata(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        _magic, _version, _tensors, count = _unpack(file, "<4sIQQ")
        return {_text(file): _value(file, *_unpack(file, "<I")) for _ in range(count)}


def control_tokens(metadata: dict[str, Any]) -> dict[str, int]:
    """The control tokens and their numbers."""
    tokens, kinds = metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.token_type"]
    return {token: number for number, token in enumerate(tokens) if kinds[number] == CONTROL}


def _value(file: BinaryIO, kind: int) -> Any:
    if kind == TEXT:
        return _text(file)
    if kind == LIST:
        inner, count = _unpack(file, "<IQ")
        return [_value(file, inner) for _ in range(count)]
    return _unpack(file, f"<{NUMBERS[kind]}")[0]


def _text(file: BinaryIO) -> str:
    (size,) = _unpack(file, "<Q")
    return file.read(size).decode("utf-8", "replace")


def _unpack(file: BinaryIO, layout: str) -> tuple[Any, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))
