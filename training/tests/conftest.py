from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from training.network import Network
from training.weights import Shape, Source

SMALL = Shape(layers=2, width=64, hidden=96, heads=2, groups=1, words=49_152)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--weights", type=Path, required=True)


@pytest.fixture(scope="session")
def weights(request: pytest.FixtureRequest) -> Path:
    return request.config.getoption("--weights")


@pytest.fixture(scope="session")
def tokenizer(weights: Path) -> Tokenizer:
    return Source(weights).tokenizer()


@pytest.fixture
def network() -> Network:
    """A small untrained network."""
    torch.manual_seed(0)
    wide = SMALL.groups * SMALL.head
    shapes = {
        "attn_q": (SMALL.width, SMALL.width),
        "attn_k": (wide, SMALL.width),
        "attn_v": (wide, SMALL.width),
        "attn_output": (SMALL.width, SMALL.width),
        "ffn_gate": (SMALL.hidden, SMALL.width),
        "ffn_up": (SMALL.hidden, SMALL.width),
        "ffn_down": (SMALL.width, SMALL.hidden),
        "attn_norm": (SMALL.width,),
        "ffn_norm": (SMALL.width,),
    }
    tensors = {
        f"blk.{layer}.{name}.weight": torch.randn(shape) * 0.1
        for layer in range(SMALL.layers)
        for name, shape in shapes.items()
    }
    tensors["token_embd.weight"] = torch.randn(SMALL.words, SMALL.width) * 0.1
    tensors["output_norm.weight"] = torch.ones(SMALL.width)
    return Network(SMALL, tensors)
