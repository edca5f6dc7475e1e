"""The language of planning requests: syntax, meaning, words, writer and an independent reader."""
