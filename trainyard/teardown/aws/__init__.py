"""What is left on AWS: looked for by tag and by the traces of what is made without the program, and priced."""
