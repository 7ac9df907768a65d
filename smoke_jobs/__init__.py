"""The DDP smoke job: what runs on the GPUs, how it is launched, and how its result is told."""
