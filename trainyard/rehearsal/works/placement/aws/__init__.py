"""The nodes that EKS makes of recorded node groups."""
