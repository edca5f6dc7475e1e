"""Reads what files of the embedded model say about themselves, and writes adapters of random numbers.

Reading is a second opinion on what we took from the files by hand; random adapters show what holds for any.
"""

import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
FLOAT, TEXT, LIST = 6, 8, 9  # kinds of values
CONTROL = 3  # the type of a token that is not text


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


Q8_0 = 8  # the kind of all tensors: a scale for each 32 whole numbers of one byte
SCALE = struct.pack("<e", 1 / 1024)
ALIGNMENT = 32
LAYERS, RANK = 30, 32
SHAPES = {
    "attn_q": (576, 576),
    "attn_k": (576, 192),
    "attn_v": (576, 192),
    "attn_output": (576, 576),
    "ffn_gate": (576, 1536),
    "ffn_up": (576, 1536),
    "ffn_down": (1536, 576),
}

Shape = tuple[int, int]


def write_adapter(path: Path, seed: int, alpha: float, parts: str) -> Path:
    """An adapter for some parts of each layer; the larger alpha, the more it changes."""
    shapes = {name: shape for part in parts.split() for name, shape in _of_part(part)}
    numbers = random.Random(seed)
    tensors = [_tensor(numbers, shape) for shape in shapes.values()]
    path.write_bytes(b"".join(map(_padded, [_head(shapes, alpha), *tensors])))
    return path


def _of_part(part: str) -> Iterator[tuple[str, Shape]]:
    read, written = SHAPES[part]
    for layer in range(LAYERS):
        yield f"blk.{layer}.{part}.weight.lora_a", (read, RANK)
        yield f"blk.{layer}.{part}.weight.lora_b", (RANK, written)


def _tensor(numbers: random.Random, shape: Shape) -> bytes:
    return b"".join([SCALE + numbers.randbytes(32) for _ in range(shape[0] * shape[1] // 32)])


def _head(shapes: dict[str, Shape], alpha: float) -> bytes:
    texts = {"general.type": "adapter", "general.architecture": "llama", "adapter.type": "lora"}
    values = [_packed(name) + struct.pack("<I", TEXT) + _packed(value) for name, value in texts.items()]
    values.append(_packed("adapter.lora.alpha") + struct.pack("<If", FLOAT, alpha))
    tensors, offset = list[bytes](), 0
    for name, (width, height) in shapes.items():
        tensors.append(_packed(name) + struct.pack("<IQQIQ", 2, width, height, Q8_0, offset))
        offset += width * height // 32 * 34  # always a multiple of the alignment
    return b"".join([struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(values)), *values, *tensors])


def _packed(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
