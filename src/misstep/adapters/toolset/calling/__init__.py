"""Calls tools as an agent's framework would, one file for each kind."""
