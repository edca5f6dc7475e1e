"""Stored runs of `misstep plan test`."""

from misstep.runs.reporting.planned import PlanningRuns

FEATURE = PlanningRuns()
