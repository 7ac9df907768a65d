"""Many clients of one agency: what they share, what they must not share, and how all of them are brought forward."""
