"""Reads a language model from a GGUF file: its shape, tensors and tokenizer."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from tokenizers import Tokenizer, decoders, models, pre_tokenizers


class Shape(NamedTuple):
    """The dimensions of a Llama-like network."""

    layers: int
    width: int
    hidden: int
    heads: int
    groups: int
    words: int
    base: float = 100_000.0
    epsilon: float = 1e-5

    @property
    def head(self) -> int:
        return self.width // self.heads


class Source:
    """A GGUF file of a Llama-like model with SmolLM's tokenizer."""

    def __init__(self, path: Path) -> None:
        self._reader = GGUFReader(path)

    @property
    def shape(self) -> Shape:
        return Shape(
            layers=self._number("llama.block_count"),
            width=self._number("llama.embedding_length"),
            hidden=self._number("llama.feed_forward_length"),
            heads=self._number("llama.attention.head_count"),
            groups=self._number("llama.attention.head_count_kv"),
            words=self._number("llama.vocab_size"),
            base=float(self._field("llama.rope.freq_base")),
            epsilon=float(self._field("llama.attention.layer_norm_rms_epsilon")),
        )

    def tensors(self, layers: int) -> dict[str, torch.Tensor]:
        """Dequantised tensors by llama.cpp's names, up to a number of layers."""
        return {
            tensor.name: torch.from_numpy(
                np.array(dequantize(tensor.data, tensor.tensor_type), dtype=np.float32)
            )
            for tensor in self._reader.tensors
            if _layer(tensor.name) < layers
        }

    def tokenizer(self) -> Tokenizer:
        """A tokenizer like llama.cpp's: single digits, then BPE. It does not parse control tokens."""
        words = {word: number for number, word in enumerate(self._field("tokenizer.ggml.tokens"))}
        merges = [tuple(merge.split(" ")) for merge in self._field("tokenizer.ggml.merges")]
        tokenizer = Tokenizer(models.BPE(vocab=words, merges=merges))
        digits = pre_tokenizers.Digits(individual_digits=True)
        letters = pre_tokenizers.ByteLevel(add_prefix_space=False)
        tokenizer.decoder = decoders.ByteLevel()
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([digits, letters])
        return tokenizer

    def _field(self, name: str):
        return self._reader.fields[name].contents()

    def _number(self, name: str) -> int:
        return int(self._field(name))


def _layer(name: str) -> int:
    kind, _, rest = name.partition(".")
    return int(rest.partition(".")[0]) if kind == "blk" else -1
