"""Tables of facts with source, version and date; `python -m stacks.rehearsal.values.generate` writes them."""
