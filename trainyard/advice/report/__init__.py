"""Recommendations, estimates and comparisons as text for the terminal, as JSON and as a page."""
