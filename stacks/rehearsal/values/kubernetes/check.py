def check(stack): pass
