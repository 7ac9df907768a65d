"""Reviews as machines read them: JSON, SARIF, JUnit XML, and the Markdown of a pull request.

Each format has a `part`, the text of one stack, and `whole`, the document of all parts: a stack is told and forgotten,
in whichever process judged it, before the next one is looked at.
"""
