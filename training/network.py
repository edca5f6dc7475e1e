"""SmolLM2 in plain PyTorch, with frozen weights and trainable LoRA matrices.

Weights are in llama.cpp's layout, with rotary pairs next to each other, so that the trained matrices can be
used there without permutation.
"""

from collections.abc import Iterator, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.weights import Shape

RANK = 32
# Without the keys, so that the adapter stays below 10 MB with 8 bits.
ADAPTED = ("attn_q", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")


class Adapted(nn.Module):
    """A frozen matrix plus the product of two small trainable ones."""

    def __init__(self, weight: Tensor, rank: int) -> None:
        super().__init__()
        self.weight = nn.Buffer(weight)
        out, into = weight.shape
        self.a = nn.Parameter(torch.randn(rank, into) * into**-0.5)
        self.b = nn.Parameter(torch.zeros(out, rank))

    def forward(self, x: Tensor) -> Tensor:
        change = functional.linear(functional.linear(x, self.a.to(x.dtype)), self.b.to(x.dtype))
        return functional.linear(x, self.weight) + change


class Frozen(nn.Module):
    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = nn.Buffer(weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


class Memory:
    """The key-value cache of one layer for a batch of texts, with room for more tokens."""

    def __init__(self, keys: Tensor, values: Tensor, room: int) -> None:
        self.keys = functional.pad(keys, (0, 0, 0, room))
        self.values = functional.pad(values, (0, 0, 0, room))

    def add(self, keys: Tensor, values: Tensor, places: Tensor) -> None:
        """Add one token to each text, at its own position."""
        index = places[:, None, None, None].expand(-1, keys.shape[1], 1, keys.shape[3])
        self.keys.scatter_(2, index, keys)
        self.values.scatter_(2, index, values)


class Layer(nn.Module):
    def __init__(self, shape: Shape, tensors: Mapping[str, Tensor], rank: int) -> None:
        super().__init__()
        self.shape = shape
        for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
            weight = tensors[f"{name}.weight"]
            self.add_module(name, Adapted(weight, rank) if name in ADAPTED else Frozen(weight))
        self.attn_norm, self.ffn_norm = (
            nn.Buffer(tensors["attn_norm.weight"]),
            nn.Buffer(tensors["ffn_norm.weight"]),
        )

    def forward(self, x: Tensor, turn: Tensor) -> Tensor:
        keys, values, queries = self.project(x, turn)
        mixed = functional.scaled_dot_product_attention(
            queries, keys, values, is_causal=True, enable_gqa=True
        )
        return self.finish(x, mixed)

    def project(self, x: Tensor, turn: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Keys, values and queries, with the heads before the positions."""
        x = self.normed(x, self.attn_norm)
        size, length, _ = x.shape

        def heads(y: Tensor, count: int) -> Tensor:
            return y.view(size, length, count, self.shape.head).transpose(1, 2)

        keys = rotated(heads(self.attn_k(x), self.shape.groups), turn)
        queries = rotated(heads(self.attn_q(x), self.shape.heads), turn)
        return keys, heads(self.attn_v(x), self.shape.groups), queries

    def finish(self, x: Tensor, mixed: Tensor) -> Tensor:
        x = x + self.attn_output(mixed.transpose(1, 2).flatten(2))
        y = self.normed(x, self.ffn_norm)
        return x + self.ffn_down(functional.silu(self.ffn_gate(y)) * self.ffn_up(y))

    def normed(self, x: Tensor, weight: Tensor) -> Tensor:
        return functional.rms_norm(x, (self.shape.width,), weight, self.shape.epsilon)


def rotated(x: Tensor, turn: Tensor) -> Tensor:
    """Rotary embedding of adjacent pairs; `turn` has cosines and sines by position."""
    even, odd = x.float().unflatten(-1, (-1, 2)).unbind(-1)
    cosine, sine = turn
    pairs = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1)
    return pairs.flatten(-2).to(x.dtype)


class Network(nn.Module):
    """Maps texts to hidden states at each position; `scores` maps these to logits."""

    def __init__(self, shape: Shape, tensors: Mapping[str, Tensor], rank: int = RANK) -> None:
        super().__init__()
        self.shape = shape
        self.words = nn.Buffer(tensors["token_embd.weight"])
        self.last_norm = nn.Buffer(tensors["output_norm.weight"])
        self.layers = nn.ModuleList(
            [Layer(shape, _within(tensors, f"blk.{number}."), rank) for number in range(shape.layers)]
        )

    def forward(self, texts: Tensor) -> Tensor:
        x, turn = self.words[texts], self.turn(torch.arange(texts.shape[1], device=texts.device))
        for layer in self.layers:
            x = layer(x, turn)
        return x

    def read(self, texts: Tensor, room: int) -> tuple[Tensor, list[Memory]]:
        """Like `forward`, with the key-value caches to continue from."""
        x, turn = self.words[texts], self.turn(torch.arange(texts.shape[1], device=texts.device))
        memories = list[Memory]()
        for layer in self.layers:
            keys, values, queries = layer.project(x, turn)
            mixed = functional.scaled_dot_product_attention(
                queries, keys, values, is_causal=True, enable_gqa=True
            )
            x = layer.finish(x, mixed)
            memories.append(Memory(keys, values, room))
        return x, memories

    def go_on(self, tokens: Tensor, places: Tensor, memories: list[Memory]) -> Tensor:
        """The hidden states after one more token for each text, at its own position."""
        x = self.words[tokens][:, None]
        turn = self.turn(places)[:, :, None, None]
        length = memories[0].keys.shape[2]
        seen = (torch.arange(length, device=tokens.device) <= places[:, None])[:, None, None]
        for layer, memory in zip(self.layers, memories, strict=True):
            keys, values, queries = layer.project(x, turn)
            memory.add(keys, values, places)
            mixed = functional.scaled_dot_product_attention(
                queries, memory.keys, memory.values, attn_mask=seen, enable_gqa=True
            )
            x = layer.finish(x, mixed)
        return x[:, 0]

    def scores(self, x: Tensor) -> Tensor:
        x = functional.rms_norm(x, (self.shape.width,), self.last_norm, self.shape.epsilon)
        return functional.linear(x, self.words)

    def turn(self, places: Tensor) -> Tensor:
        pairs = torch.arange(0, self.shape.head, 2, device=places.device, dtype=torch.float32)
        angles = places[:, None] * self.shape.base ** (-pairs / self.shape.head)
        return torch.stack((angles.cos(), angles.sin()))

    def learnt(self) -> Iterator[tuple[str, Adapted]]:
        """The trainable matrices, by llama.cpp's names of the weights they adapt."""
        for number, layer in enumerate(self.layers):
            for name in ADAPTED:
                yield f"blk.{number}.{name}.weight", layer.get_submodule(name)


def frozen_to(network: Network, device: torch.device, kind: torch.dtype) -> Network:
    """Move the network to a device, with frozen weights in `kind` and trainable ones in float32."""
    network.to(device)
    for module in network.modules():
        for name, buffer in module.named_buffers(recurse=False):
            setattr(module, name, buffer.to(kind))
    return network


def _within(tensors: Mapping[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
