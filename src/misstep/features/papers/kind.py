"""Stored runs of `misstep paper`."""

from misstep.runs.reporting.stored import PlanningRuns

FEATURE = PlanningRuns()
