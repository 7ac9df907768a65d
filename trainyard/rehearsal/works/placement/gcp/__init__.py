"""The nodes that GKE makes of recorded node pools."""
