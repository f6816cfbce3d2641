"""Chapter 5: the steps of the chain of effective ranks."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Asked, Note, Number, Question, choose

FIRST_LINK = {
    "s4": Note(
        choose(
            "c5-first-link",
            "Why is a singular value times itself at most the singular value times the largest one?",
            (
                "The largest is at least as large, and nothing is negative.",
                "This is the only idea of the first link.",
            ),
            (
                ("By the Cauchy-Schwarz inequality.", "Nothing so strong is needed."),
                ("Because the matrix is square.", "Its shape plays no role."),
            ),
            "Each factor is at most the largest. Add up, divide, and the first link is there.",
        )
    ),
    "s5": Note(
        choose(
            "c5-which-norm",
            "Now add these lines up over all singular values. What is the sum on the left?",
            ("The squared Frobenius norm.", "It is the sum of the squared singular values."),
            (
                ("The nuclear norm.", "That is the plain sum. It comes in on the right."),
                ("The squared spectral norm.", "That is the square of the largest one alone."),
            ),
            "On the left are squares. On the right is the largest singular value times a plain sum, the nuclear norm.",
        )
    ),
    "s6": Note(Asked("multiplier")),
}

ENTROPY = {
    "s4": Note(
        Question(
            "c5-tangent",
            "The logarithm of *x* lies below the line *x* minus one. At which *x* do they touch?",
            Number(lambda: sympy.exp(0), "0.001", "Both have to be zero there."),
            "At one, where both are zero and both have slope one. Everywhere else the logarithm is smaller.",
        )
    ),
    "s5": Note(Asked("multiplier")),
    "s7": Note(
        Question(
            "c5-nothing-left",
            "The right sides are added up over all singular values. To what do they add up?",
            Number(
                lambda: sympy.Integer(1) - 1,
                "0.001",
                "The squares of the shares add up to one over the participation ratio. The shares add up to one.",
            ),
            "One minus one. So the left sides add up to at most zero, and this is the claim about the logarithms.",
        )
    ),
    "s9": Note(
        choose(
            "c5-equal",
            "When are participation ratio and entropy rank *equal*?",
            (
                "When all singular values that are not zero are equal.",
                "Then every logarithm sits where it touches its tangent.",
            ),
            (
                (
                    "When the matrix has full rank.",
                    "Full rank with unequal singular values gives two different numbers.",
                ),
                ("Never.", "Take the identity matrix."),
            ),
            "The only inequality of the proof is the tangent. It is sharp where each share times the ratio is one, so where all shares are equal.",
        )
    ),
}
