"""What tools promise about their effects and results, and calls that show whether they keep it."""
