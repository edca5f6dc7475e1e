"""Adapters of random numbers for the embedded model, to show what holds for any of them."""

import random
import struct
from collections.abc import Iterator
from pathlib import Path

TEXT, FLOAT = 8, 6  # kinds of values
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
    values = [_text(name) + struct.pack("<I", TEXT) + _text(value) for name, value in texts.items()]
    values.append(_text("adapter.lora.alpha") + struct.pack("<If", FLOAT, alpha))
    tensors, offset = list[bytes](), 0
    for name, (width, height) in shapes.items():
        tensors.append(_text(name) + struct.pack("<IQQIQ", 2, width, height, Q8_0, offset))
        offset += width * height // 32 * 34  # always a multiple of the alignment
    return b"".join([struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(values)), *values, *tensors])


def _text(text: str) -> bytes:
    return struct.pack("<Q", len(text)) + text.encode()


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % ALIGNMENT)
