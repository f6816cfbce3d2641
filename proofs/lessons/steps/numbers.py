"""Chapter 10: the steps from measured defects to an enclosure."""

from __future__ import annotations

from proofs.lessons.figures import enclosure_end, stretch
from proofs.lessons.model import Asked, Note, Number, Question, choose

UPPER = {
    "s1": Note(
        choose(
            "c10-stretch",
            "The right directions are not exactly orthonormal. What does their *defect* say about a unit vector that they are applied to?",
            (
                "The square of its new length is off from one by at most the defect.",
                "The defect is the norm of what is wrong with the square.",
            ),
            (
                ("Its new length is exactly one.", "That would need a defect of zero."),
                (
                    "Its direction is off by at most the defect.",
                    "The defect is about lengths and angles of the directions, taken together.",
                ),
            ),
            "The squared length is one plus a quadratic form of the defect matrix, and a quadratic form on unit vectors is at most the norm.",
        )
    ),
    "s2": Note(
        Question(
            "c10-root-of-defect",
            "The defect is 0.21. By which factor can the right directions stretch a vector, at most?",
            Number(
                lambda: stretch("21/100"),
                "0.001",
                "The *square* of the factor is at most one plus the defect.",
            ),
            "The root of 1.21. For a defect of a millionth of a millionth the factor is one, up to half of that.",
        )
    ),
    "s5": Note(
        choose(
            "c10-multiply",
            "We have one such line for the right and one for the left directions, and multiply them. Why is this allowed?",
            ("No part of either line is negative.", "Then larger times larger is larger."),
            (
                ("Both lines are about the same matrix.", "They are about two different matrices."),
                ("The defects are small.", "The upper end holds for any defects."),
            ),
            "With negative numbers it could fail: minus two is below minus one, and the square of minus two is above the square of minus one.",
        )
    ),
    "s6": Note(
        choose(
            "c10-factor",
            "A matrix is multiplied from the left by the left directions. What can this do to its singular values?",
            (
                "Multiply each of them by at most the largest stretch of the left directions.",
                "A vector that becomes longer by a factor cannot become longer than that.",
            ),
            (
                ("Change their number.", "Zero or not, they stay as many."),
                (
                    "Add the defect to each of them.",
                    "It acts as a factor here. What is *added* is the third defect.",
                ),
            ),
            "Each singular value is a best length of an image, so a factor bounds it. For the right directions transpose and do the same.",
        )
    ),
    "s7": Note(
        choose(
            "c10-weyl",
            "The product of the three factors misses the matrix by an error whose norm is the third defect. By how much may each singular value be off for this reason?",
            ("By at most the third defect, each of them.", "This is Weyl's inequality."),
            (
                (
                    "By the third defect times the number of singular values.",
                    "They do not share it. Each one is off by at most the whole of it.",
                ),
                (
                    "By the third defect times its own size.",
                    "That would be a relative error. This one is absolute.",
                ),
            ),
            "This is why small singular values get wide intervals, relative to their size: the error does not shrink with them.",
        )
    ),
    "s8": Note(Asked("multiplier")),
}

LOWER = {
    "s8": Note(
        choose(
            "c10-smallest",
            "For the lower end the *smallest* stretch of the directions is needed. Why?",
            (
                "If the directions shrink a vector, the product of the factors is smaller than what was reported.",
                "The smallest stretch says by how much they can shrink.",
            ),
            (
                ("Because the lower end is a smaller number.", "It is smaller, but that is no reason."),
                ("Because the largest stretch is not known.", "It was bounded for the upper end."),
            ),
            "The reported value enters the product between the two sets of directions. They can make it smaller only as far as they shrink.",
        )
    ),
    "s10": Note(
        Question(
            "c10-lower-end",
            "The reported value is 2, the defects of the directions are 0.19 and 0, and the third defect is 0.1. What is the lower end?",
            Number(
                lambda: enclosure_end("lower", s=2, f="19/100", h=0, e="1/10"),
                "0.001",
                "One minus 0.19 is 0.81, and its root is 0.9.",
            ),
            "Two times 0.9, minus 0.1. Real decompositions have defects near the last digit, and the interval is that narrow.",
        )
    ),
}
