"""What of a plan is AWS's: its part of the data, and the functions that decide it."""
