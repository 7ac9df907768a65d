"""Programs of other people's, one a stack: correct, and written as nobody here would."""

import importlib

import pulumi

importlib.import_module(pulumi.get_stack())
