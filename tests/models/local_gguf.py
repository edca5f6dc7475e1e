"""Reads what a file of weights says about itself, as a second opinion on what we took from it by hand."""

import struct
from pathlib import Path
from typing import Any, BinaryIO

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
CONTROL = 3  # the type of a token that is no text


def read_metadata(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return _read_metadata(file)[0]


def read_tensors(path: Path) -> dict[str, tuple[tuple[int, ...], int]]:
    """The tensors by their names: shape, and kind of numbers."""
    with path.open("rb") as file:
        _, count = _read_metadata(file)
        return dict(_read_tensor(file) for _ in range(count))


def _read_metadata(file: BinaryIO) -> tuple[dict[str, Any], int]:
    """What is said about the whole, and how many tensors follow."""
    _magic, _version, tensors, count = _unpack(file, "<4sIQQ")
    return {_text(file): _value(file, *_unpack(file, "<I")) for _ in range(count)}, tensors


def _read_tensor(file: BinaryIO) -> tuple[str, tuple[tuple[int, ...], int]]:
    name, (dimensions,) = _text(file), _unpack(file, "<I")
    shape = _unpack(file, f"<{dimensions}Q")
    kind, _offset = _unpack(file, "<IQ")
    return name, (shape, kind)


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
