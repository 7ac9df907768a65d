"""Tables of facts with source, version and date; `python -m trainyard.rehearsal.refusals.generate` writes them."""
