"""Google Cloud as a ground."""
