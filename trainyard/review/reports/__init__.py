"""Reports for people: of a rehearsal, of a price, of what the policies say; in the terminal and as pages."""
