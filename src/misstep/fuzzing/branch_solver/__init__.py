"""Turns comparisons observed in a tool's code into arguments that pass them, or fail after them."""

from misstep.fuzzing.branch_solver.solve import Opening, opened, openings

__all__ = ["Opening", "opened", "openings"]
