"""Change on AWS: what its provider and its services do, and refuse to do, with what is there."""
