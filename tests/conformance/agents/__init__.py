"""TODO tests.conformance.agents"""
