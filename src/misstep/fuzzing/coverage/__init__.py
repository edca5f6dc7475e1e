"""Records which lines of a tool's own code calls run; used in the process that calls tools."""

from misstep.fuzzing.coverage.code import Ownership, apart
from misstep.fuzzing.coverage.coverage import Coverage, reach_in, reach_of

__all__ = ["Coverage", "Ownership", "apart", "reach_in", "reach_of"]
