"""The ways of a VPC."""
