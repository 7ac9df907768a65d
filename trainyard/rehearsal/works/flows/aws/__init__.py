"""Routes, security groups and instance metadata, and what of AWS stands in a stack's network."""
