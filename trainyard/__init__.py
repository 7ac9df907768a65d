"""Trainyard: machine-learning training infrastructure, from a team's size to a stack that is proven to train.

Everything is imported below this one name, so that no folder of a client's repository can stand in its place.
`components`, `policies`, `smoke_jobs` and `stacks` lie at the root of the project, where people look for them, and are
linked into this package; an installed wheel has them inside.
"""
