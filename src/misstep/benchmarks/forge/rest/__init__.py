"""The part of GitHub's REST API that clients need."""
