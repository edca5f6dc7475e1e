"""Stored runs of `misstep plan test`."""

from misstep.runs.reporting.stored import PlanningRuns

FEATURE = PlanningRuns()
