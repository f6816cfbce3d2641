"""Chapter 2: the steps of symmetrization."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Asked, Note, Number, Question, choose

SYMMETRIZATION = {
    "s2": Note(
        choose(
            "c2-risk",
            "The risk is unknown, because the source of the examples is unknown. By what may we replace it, "
            "without any error?",
            (
                "By the average loss on a ghost sample, averaged over all ghost samples.",
                "It is the same number.",
            ),
            (
                (
                    "By the average loss on our own sample.",
                    "That is the empirical risk. Its distance from the risk is the question.",
                ),
                (
                    "By the average loss on one ghost sample.",
                    "One ghost sample is off by luck. Only its average is exact.",
                ),
            ),
            "Each ghost example has the risk as its average loss. So has the mean over a whole ghost sample.",
        )
    ),
    "s4": Note(
        choose(
            "c2-order",
            "Why may the choice of the model be made *after* the ghost sample is seen?",
            (
                "A choice that is made later can only be better.",
                "So the right side can only grow, and we want an upper bound.",
            ),
            (
                (
                    "Because the ghost sample does not exist.",
                    "It need not exist. But the inequality needs a reason.",
                ),
                ("Because the average removes it.", "The average stays, outside of the choice."),
            ),
            "One model that is good on average does less well, or equally well, than a new best model for each ghost sample.",
        )
    ),
    "s6": Note(
        choose(
            "c2-swap",
            "Swap one training example with its ghost. What changes in the *distribution* of the difference?",
            ("Nothing: both come from the same source, independently.", "This is the whole trick."),
            (
                ("The difference becomes larger.", "In one draw it may. The distribution does not change."),
                ("The difference becomes zero.", "Only if the two examples happen to agree."),
            ),
            "Two independent draws from one source can trade places and nobody can tell. A swap flips the sign of one term. So "
            "we may flip every sign at random and the average stays the same.",
        )
    ),
    "s7": Note(
        Question(
            "c2-part",
            "Three models have the values 3, 0, 1 in a first table and the values 0, 2, 1 in a second table. Add the best value "
            "of the first table to the best value of the second. How much larger is this than the best *sum* of one model?",
            Number(
                lambda: max((3, 0, 1)) + max((0, 2, 1)) - sympy.Integer(max(3 + 0, 0 + 2, 1 + 1)),
                "0.001",
                "The best values are 3 and 2. The sums are 3, 2 and 2.",
            ),
            "Five against three. If each table may pick its own model, the result can only be larger. We use this to part the real "
            "sample from the ghost sample.",
        )
    ),
    "s9": Note(
        choose(
            "c2-minus",
            "In the second supremum every sign carries a minus. What does the minus change on average?",
            (
                "Nothing: the opposite of a fair sign is a fair sign.",
                "So both suprema have the same average.",
            ),
            (
                (
                    "The average becomes negative.",
                    "The best model adapts to the signs, whatever they are called.",
                ),
                (
                    "The supremum becomes an infimum.",
                    "The minus stands inside. The supremum is still the largest value.",
                ),
            ),
            "If we list all patterns of signs and turn every sign, we get the same list in another order.",
            line_shown=True,
        )
    ),
    "s12": Note(Asked("number", hint="Two suprema came out of one, and each has the same average.")),
}
