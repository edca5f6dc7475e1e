"""The language of planning requests: syntax, meaning, vocabulary, writer and an independent reader."""
