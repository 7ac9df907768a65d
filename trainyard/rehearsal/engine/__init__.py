"""The program's run: what starts it as the engine does, answers it offline and records what it makes."""
