"""What the evaluators' answers are held to."""


def refuses(verdict):
    assert verdict.refused, str(verdict)


def allows(verdict):
    assert verdict.allowed, str(verdict)
