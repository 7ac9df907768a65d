"""Google Cloud's part of the planner."""
