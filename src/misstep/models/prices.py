"""What tokens cost."""

import re
import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import msgspec

from misstep.core.transcript import Usage
from misstep.errors import UsageError
from misstep.models.providers import ModelName, load_providers

SNAPSHOT = re.compile(r"-(\d{4}-?\d{2}-?\d{2}|latest)$")  # dated versions cost what the model costs
MILLION = 1_000_000

Dollars = Annotated[float, msgspec.Meta(ge=0)]
Row = Annotated[list[Dollars], msgspec.Meta(min_length=2, max_length=3)]
Table = dict[str, dict[str, Row]]


class Price(msgspec.Struct, frozen=True):
    """US dollars per million tokens."""

    input: float
    output: float
    cached: float

    def of(self, usage: Usage) -> float:
        fresh = usage.input - usage.cached
        total = fresh * self.input + usage.cached * self.cached + usage.output * self.output
        return total / MILLION


FREE = Price(0.0, 0.0, 0.0)


def find_price(model: ModelName, own_file: str = "") -> Price | None:
    """The price of a model, the user's own file first; None where nobody has said what it costs."""
    for table in (_read(own_file) if own_file else {}, _shipped()):
        rows = table.get(model.provider, {})
        row = rows.get(model.model) or rows.get(SNAPSHOT.sub("", model.model))
        if row:
            return Price(row[0], row[1], row[2] if len(row) > 2 else row[0])
    return FREE if load_providers()[model.provider].own else None


@cache
def _shipped() -> Table:
    text = (files("misstep.models") / "data" / "prices.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Table)


def _read(path: str) -> Table:
    hint = 'expected [provider] tables with lines such as "model" = [input, output, cached]'
    try:
        return msgspec.convert(tomllib.loads(Path(path).read_text("utf-8")), Table, strict=False)
    except OSError as error:
        raise UsageError("can't be read", error.strerror or str(error), where=path) from error
    except (ValueError, msgspec.ValidationError) as error:
        raise UsageError("is not a list of prices", str(error), hint, where=path) from error
