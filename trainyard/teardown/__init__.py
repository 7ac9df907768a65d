"""An environment's end: what is stopped, what stays, what is deleted, and the proof that nothing else is left."""
