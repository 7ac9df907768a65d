"""Tables of facts (paths, types, names) with source, version and date; written by `stacks.rehearsal.values.generate`."""
