"""`misstep plan synth`: planning problems, and training examples made from them."""
