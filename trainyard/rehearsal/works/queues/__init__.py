"""Who gets which quota and when: Kueue's objects of a recording, played as its manager would."""
