"""`misstep paper`: the experiments of the PDoctor and ToolFuzz papers."""
