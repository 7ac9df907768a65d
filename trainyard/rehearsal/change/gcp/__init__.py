"""Change on Google Cloud: what its provider does with what is there."""
