"""Episodes as OpenTelemetry traces."""
