"""For servers of notebooks: to make the grammar of international addresses, which none of them reads, takes each of
their processes a second and a half. `jsonschema` does without, as where the package is not installed."""

raise ImportError("not for servers of tests")
