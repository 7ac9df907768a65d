"""What is judged is judged once a shape: stacks that differ in their clients' names alone have one verdict where it is
that nothing is found (`docs/decisions/0092-judged-once-a-shape.md`).
"""
