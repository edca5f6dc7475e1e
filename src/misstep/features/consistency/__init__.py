"""`misstep tool consistency`: tools that answer paraphrases differently."""
