"""The proof on Google Cloud that nothing of an environment is left, asked as whoever calls."""
