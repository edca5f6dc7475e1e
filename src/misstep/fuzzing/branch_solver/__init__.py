"""From what code was seen to do with its arguments to arguments that get past it, or break behind it."""

from misstep.fuzzing.branch_solver.solve import Opening, opened, openings

__all__ = ["Opening", "opened", "openings"]
