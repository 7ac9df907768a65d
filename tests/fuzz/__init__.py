"""Random settings files: what no example and no test thought of (`make fuzz`).

`fields` draws a value for every field of the settings, `files` makes settings files of them: plausible, wild, hostile.
`judge` says what came of one, `run` puts thousands of them through, and saves and shortens those that fail.
"""
