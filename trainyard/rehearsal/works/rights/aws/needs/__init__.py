"""What the recorded environment has to be allowed in AWS, and by whom: declared in YAML where it is a fact of a service
or a program, read off the resources where they say it themselves."""
