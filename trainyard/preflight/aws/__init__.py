"""What AWS is asked before a stack is created: one module a question, all of them read-only."""
