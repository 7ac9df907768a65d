"""What every node and the cluster must reach, and whether a way leads there: routes, gateways, endpoints, groups."""
