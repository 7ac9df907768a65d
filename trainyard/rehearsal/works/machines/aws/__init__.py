"""Machines of AWS: nodes of EKS and databases of RDS."""
