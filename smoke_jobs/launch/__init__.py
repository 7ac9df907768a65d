"""The smoke job on each platform: one module a target, each rendering the same `SmokeSpec` (`job.py`)."""
