"""`misstep tool fix`: tool descriptions that help an agent, with proof."""
