"""TODO tests.conformance.mcp_clients"""
