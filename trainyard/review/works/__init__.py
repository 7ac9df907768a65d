"""What `explain` and the page tell of the played environment: tables by topic, made of the rehearsal's own models."""
