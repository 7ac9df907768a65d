"""Every pod of a stack put on its nodes, as the scheduler would."""
