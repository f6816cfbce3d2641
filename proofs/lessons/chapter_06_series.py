"""Chapter 6: random signs on matrices."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.series import LINEAR, MATRIX_SERIES

CHAPTER = Chapter(
    number=6,
    slug="series",
    title="Matrix series: random signs on matrices",
    short="Matrix series",
    goal="After contraction, a randomly signed sum of matrices is left. How large is it? Its Frobenius norm is easy. Its spectral norm is smaller and "
    "harder, and here the logarithm of an effective dimension comes in.",
    items=(
        Say(
            "Take fixed matrices, one for each example. Give each a random sign and add them up. We need the average size of the sum.\n\n"
            "In the Frobenius norm this is a line of arithmetic: independent signs have no cross terms, so the squares add up. The average size is at most "
            "the root of the sum of squares.",
            title="Signed sums of matrices",
        ),
        Question(
            "c6-cross",
            "Why do the cross terms vanish when the squared Frobenius norm is averaged over the signs?",
            (
                Choice(
                    "The product of two different signs is plus or minus with equal chance.",
                    "So its average is zero.",
                    right=True,
                ),
                Choice("The matrices are orthogonal.", "They need not be."),
                Choice(
                    "They do not vanish, they are bounded.", "Average the product of two independent signs."
                ),
            ),
            "Only the terms of a matrix with itself survive, because there the sign is squared and becomes one.",
        ),
        Say(
            "The trained matrix meets this sum in an inner product. A matrix with a small Frobenius norm is paired with the sum's Frobenius norm: that "
            "is Theorem A. A matrix with a small *nuclear* norm is paired with the sum's *spectral* norm: that is Theorem B. The spectral norm can be "
            "much smaller, if the sum spreads over many directions.",
        ),
        Result("A1"),
        Result("Lemma 9 (frobenius)"),
        Steps("Complexity of A1", LINEAR),
        Say(
            "How large is the spectral norm of the signed sum? Two numbers decide it.\n\n"
            "The first, {symbol:series_frobenius_sq}, adds up the squared Frobenius norms of all the matrices. It says how much there is in total. The second, {symbol:series_variance}, says "
            "how much of it can fall into one direction: square each matrix, add up the squares, and take the largest singular value of the sum. (A rectangular matrix can be "
            "squared from the left and from the right. Take the larger result.)\n\n"
            "The ratio of the two counts directions. It is one if all examples point the same way. It is as large as the smaller side of the matrices if the examples spread evenly. So it is "
            "an effective dimension, not of the model but of the *data*.",
            title="The spectral norm",
        ),
        Result("Lemma 8(b)"),
        Steps("Lemma 8(b)", MATRIX_SERIES, only=("s5", "s6", "s9", "s10", "s11")),
        Question(
            "c6-cited",
            "Some steps in this course are marked *cited* or *proved on paper*. What does that mean for the theorem that uses them?",
            (
                Choice(
                    "It is as firm as its weakest step.",
                    "A chain is as strong as its weakest link.",
                    right=True,
                ),
                Choice(
                    "It is only probably true.",
                    "Such steps are proved, in print or in words. No machine has checked them.",
                ),
                Choice("It was checked on examples.", "Examples prove nothing. No level stands for them."),
            ),
            "The lemma above needs a theorem of Lieb about traces of matrix functions, which no proof assistant at hand contains. Its level is: {level:Lemma 8(b)}. "
            "Everything that uses it says so.",
        ),
        Result("B1"),
        Program(
            "from itertools import product\n"
            "from math import sqrt\n\n"
            "# Four examples, each a single entry on the diagonal of a 4 x 4 matrix.\n"
            "spectral = frobenius = 0.0\n"
            "for signs in product((-1, 1), repeat=4):\n"
            "    spectral += max(abs(s) for s in signs) / 16\n"
            "    frobenius += sqrt(sum(s * s for s in signs)) / 16\n"
            "print('spectral norm:', spectral, ' Frobenius norm:', frobenius)\n",
            "The examples point in four different directions. The Frobenius norm grows like the root of their number. The spectral norm does not grow "
            "at all. Theorem B gains when the data spread and the trained matrix does not.",
        ),
    ),
    exercises=(
        Question(
            "c6-ex-frobenius",
            "Nine matrices have Frobenius norm 2 each. What is the root of the average squared Frobenius norm of their signed sum?",
            Number(lambda: sympy.Integer(6), "0.001", "The squares add up: nine times four."),
            "The root of 36. No cross terms.",
        ),
        Question(
            "c6-ex-same",
            "All matrices of the series are the same rank-one matrix. Does Theorem B gain over Theorem A?",
            (
                Choice(
                    "No: the data have only one direction.",
                    "The effective dimension of the data is one. Spectral and Frobenius norm agree.",
                    right=True,
                ),
                Choice("Yes: the spectral norm is always smaller.", "Never larger, but here equal."),
                Choice("Yes, because the trained matrix has small rank.", "The gain needs data that spread."),
            ),
            "Theorem B pays for a nuclear ball and gains by the spread of the data. Without spread it only pays.",
        ),
        Question(
            "c6-ex-fixed",
            "The lemma needs *fixed* matrices. An attention matrix depends on the trained weights. May we use it as one of the matrices?",
            (
                Choice(
                    "Not if those weights are trained on this sample.",
                    "Then the matrices move with the parameters, and the average and the supremum cannot be exchanged.",
                    right=True,
                ),
                Choice(
                    "Yes, its entries are between 0 and 1.",
                    "Size is not the point. It must not depend on what is trained.",
                ),
                Choice("Yes, if its effective rank is small.", "A small rank does not make it fixed."),
            ),
            "This is the exact spot where the naive argument breaks. Chapter 8 walks through it.",
        ),
    ),
    sources=(
        "J. A. Tropp, An introduction to matrix concentration inequalities, arXiv:1501.01571.",
        "E. Lieb, Convex trace functions and the Wigner-Yanase-Dyson conjecture, Adv. Math. 11, 1973.",
    ),
)
