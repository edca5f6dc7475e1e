"""What a reaction of a tool is: a defect, a refusal, trouble of the environment, or nothing to speak of."""
