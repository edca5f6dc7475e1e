"""Makes failing problems smaller."""
