"""Chapter 5: norms, spectra, and the family of effective ranks."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import ranks_figure
from proofs.lessons.model import Chapter, Choice, Live, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.ranks import ENTROPY, FIRST_LINK

CHAPTER = Chapter(
    number=5,
    slug="ranks",
    title="Norms, spectra and the many effective ranks",
    short="Effective ranks",
    goal='"Effective rank" is not one number. It is a family, and its members can differ by a factor of a hundred on the same matrix. We put '
    "them in order, and we see which of them may stand in which theorem.",
    items=(
        Say(
            "A matrix stretches space. Its *singular values* say by how much, in each of its own directions, the largest first. The list is "
            "the *spectrum*.\n\n"
            "Three sizes of a matrix are made from it. The *spectral norm* is the largest singular value. The *Frobenius norm* is the root of "
            "the sum of squares. The *nuclear norm* is the plain sum.\n\n"
            "The *rank* counts the singular values that are not zero. This is fragile: a singular value of one millionth counts like one of size "
            "one. An *effective rank* counts softly.",
            title="The spectrum",
        ),
        Question(
            "c5-srank",
            "The *stable rank* is the squared Frobenius norm divided by the squared spectral norm. A matrix has the singular values 2, 1, 1. "
            "What is its stable rank?",
            Number(lambda: sympy.Rational(6, 4), "0.001", "Sum of squares: 4 + 1 + 1. Largest square: 4."),
            "Six divided by four. The rank is 3. The stable rank says: this matrix is only one and a half directions strong.",
        ),
        Say(
            "There are many definitions in use. They stand in a fixed order: the stable rank is the smallest, the rank is the largest. Four small lemmas make "
            "the chain.",
            title="The chain",
        ),
        Result("Lemma 14(a)"),
        Steps("Lemma 14(a)", FIRST_LINK),
        Result("Lemma 14(b)"),
        Result("Lemma 14(c)"),
        Steps("Lemma 14(c)", ENTROPY, only=("s4", "s5", "s7", "s9")),
        Result("Lemma 14(d)"),
        Live(
            "ranks",
            "One matrix, six effective ranks",
            "Eight tokens attend to each other. Make the scores sharper, or choose who looks at whom. The six numbers come from the same eight "
            "singular values. With everyone alike the matrix has rank one and all six agree. With sharp scores near the diagonal they spread.",
            ranks_figure,
        ),
        Question(
            "c5-which",
            'A report says: "effective rank 1.7". What is missing?',
            (
                Choice(
                    "The name of the definition.",
                    "One singular value of 10 and a hundred of 1: the stable rank is 2, the entropy rank is 89.",
                    right=True,
                ),
                Choice("More digits.", "Digits do not help if we do not know what was measured."),
                Choice("The size of the matrix.", "Useful, but not what is missing."),
            ),
            "Every number in our reports carries the name of its rank.",
        ),
        Say(
            "All effective ranks ignore scale. If we multiply a matrix by a thousand, its ranks stay the same. But its scores become a thousand "
            "times sharper, and the class of all such matrices follows any noise.\n\n"
            "So a bound that uses *only* an effective rank cannot hold. The spectral norm must appear next to it. And then something simple comes to "
            "light: spectral norm times the root of the stable rank *is* the Frobenius norm. Spectral norm times the nuclear rank *is* the nuclear norm. "
            "A bound by stable rank is a bound by the Frobenius norm in other clothes.",
            title="Rank without scale is nothing",
        ),
        Result("N5"),
        Program(
            "import certify\n"
            "import numpy as np\n\n"
            "attention = np.array([[0.75, 0.25], [0.25, 0.75]])\n"
            "for kind in ('stable', 'nuclear', 'nuclear-frobenius', 'entropy'):\n"
            "    print(kind, certify.effective_rank(attention, kind=kind))\n",
            "Each line is an interval that contains the true value. Chapter 10 says how that is possible.",
        ),
        Question(
            "c5-nuclear",
            "Theorem B of the next chapter needs a bound on the *nuclear* norm. May we enter it with the *stable* rank?",
            (
                Choice(
                    "No: a matrix with small stable rank can have a huge nuclear norm.",
                    "One large and many small singular values: the stable rank is near 1, the sum is large.",
                    right=True,
                ),
                Choice("Yes: all effective ranks are equivalent.", "They are ordered, not equivalent."),
                Choice("Yes, with a factor 2.", "No factor is large enough for all sizes."),
            ),
            "The chain runs one way only. A bound on a smaller number of the chain says nothing about a larger one.",
        ),
    ),
    exercises=(
        Question(
            "c5-ex-identity",
            "All singular values of an 8 by 8 matrix are equal. What is its stable rank?",
            Number(lambda: sympy.Integer(8), "0.001", "Eight equal squares divided by one of them."),
            "Eight. For equal singular values all definitions agree with the rank.",
        ),
        Question(
            "c5-ex-nuclear",
            "Singular values 3, 1, 1, 1. What is the nuclear norm divided by the spectral norm?",
            Number(lambda: sympy.Integer(2), "0.001", "Sum divided by largest."),
            "Six divided by three. The stable rank is only 12/9, which is smaller, as the chain says.",
        ),
        Question(
            "c5-ex-causal",
            "A causal attention matrix is triangular with a positive diagonal. What is its exact rank, for {symbol:n_tokens} tokens?",
            (
                Choice(
                    "Always {symbol:n_tokens}.",
                    "A triangular matrix with no zero on its diagonal is invertible.",
                    right=True,
                ),
                Choice("It depends on the scores.", "The diagonal entries are softmax values, never zero."),
                Choice(
                    "At most the rank of the weights.", "Softmax does not keep the rank. See Proposition N4."
                ),
            ),
            "The exact rank of a causal attention matrix carries no information at all. That is one reason to count softly.",
        ),
    ),
    sources=(
        "O. Roy and M. Vetterli, The effective rank: a measure of effective dimensionality, EUSIPCO 2007.",
        "M. Rudelson and R. Vershynin, Sampling from large matrices, J. ACM 54, 2007 (stable rank).",
    ),
)
