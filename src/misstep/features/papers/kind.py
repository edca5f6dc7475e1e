"""Stored runs of `misstep paper`."""

from misstep.runs.reporting.planned import PlanningRuns

FEATURE = PlanningRuns()
