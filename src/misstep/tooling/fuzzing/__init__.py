"""The fuzzer of a tool or a toolkit: says which calls to make, and is told what came of them."""

from misstep.tooling.fuzzing.attempt import Attempt
from misstep.tooling.fuzzing.fuzzer import Fuzzer
from misstep.tooling.fuzzing.supply import Opener, Supply

__all__ = ["Attempt", "Fuzzer", "Opener", "Supply"]
