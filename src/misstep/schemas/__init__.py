"""JSON schemas of tools: whether values fit them, which demand they break, some that do fit."""
