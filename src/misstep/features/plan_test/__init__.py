"""`misstep plan test` and `plan check`: does an agent do what it was asked?"""
