"""What other programs read and write: JUnit, SARIF, Inspect logs, OpenTelemetry, message lists, tables."""
