"""Reviews as machines read them: JSON, SARIF, JUnit XML, and the Markdown of a pull request."""
