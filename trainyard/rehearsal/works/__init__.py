"""What would be accepted and not work: the recorded environment, played."""
