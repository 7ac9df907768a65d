"""Tables of facts (paths, types, names) with source, version and date; `stacks.rehearsal.values.generate` writes them."""
