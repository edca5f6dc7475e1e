"""The plugin, in whole runs of pytest."""
