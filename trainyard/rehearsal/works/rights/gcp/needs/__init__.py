"""What somebody has to be allowed on Google Cloud for a recorded environment to work."""
