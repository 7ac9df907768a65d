"""An environment, from a team's size to a running stack."""
