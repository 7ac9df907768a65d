"""What each team held in a month and what it cost, from the ledger: for the page, the file and the terminal."""
