"""What people see of a result: the table of a terminal, the page of a browser."""
