"""Machines: whether an image, a version, a class or a setting of a machine is one that its kind can run with."""
