"""What the chapters ask before the steps of a derivation, by the id of the step.

A step that is not named here gets a question that ``proofs.lessons.asked`` makes from the step itself.
"""
