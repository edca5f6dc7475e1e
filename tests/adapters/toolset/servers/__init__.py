"""TODO tests.adapters.toolset.servers"""
