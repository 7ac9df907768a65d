"""What a change of a stack does, told: in words, as Markdown, as JSON."""
