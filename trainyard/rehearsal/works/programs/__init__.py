"""What programs are told, against what is recorded: addresses, databases, ports, files, names of things in a cloud."""
