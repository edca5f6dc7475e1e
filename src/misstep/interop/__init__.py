"""Formats of other programs: JUnit, SARIF, Inspect logs, OpenTelemetry, message lists, tables."""
