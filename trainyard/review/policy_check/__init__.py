"""The policy pack over a rehearsal, offline: what an engine would show it, its configuration, exceptions.

Three decisions, so that nothing mandatory hides behind an unknown:

- Resource policies run twice: over the preview run, whose unknowns end a policy as they do in `pulumi preview`, and
  over the known run, in which every value is there. A violation of either is one. What only the preview could not
  decide is told as such, and is no violation by itself: the known run has judged it.
- Stack policies run over the known run, with the inputs of every resource after its provider's Check and what each
  property is made of. Computed outputs are made up in a rehearsal and left out. Then they run over what the engine
  shows them at a first preview, so that a stack that passes here is not blocked there: objects of a cluster that is yet
  to be made show no properties, and a rule over them is undecided.
- A policy that cannot be evaluated even there (its configuration is wrong, its exceptions are malformed) is an error of
  the check, never a pass.
"""
