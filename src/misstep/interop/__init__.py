"""What other tools write and read: Inspect logs, OpenTelemetry, message lists, tables."""
