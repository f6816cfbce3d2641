"""Chapter 6: the steps for linear classes and for matrix series."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Asked, Note, Number, Question, choose

LINEAR = {
    "s5": Note(
        choose(
            "c6-which-lemma",
            "The loss is a map of several outputs. Which tool removes it, and at which price?",
            ("Vector contraction, for {constant:Lemma 7:1}.", "One sign for each output from here on."),
            (
                ("Scalar contraction, for free.", "This is for maps of a single output."),
                (
                    "Concentration, for a failure probability.",
                    "Nothing random is left to concentrate: we average over the signs.",
                ),
            ),
            "Several outputs need vector contraction. With a single output one would use scalar contraction and pay nothing.",
        )
    ),
    "s6": Note(Asked("result")),
    "s7": Note(Asked("hypothesis", 1)),
    "s8": Note(
        choose(
            "c6-sup-gone",
            "Where did the supremum over the trained matrix go?",
            (
                "The bound on the right is the same for all matrices in the ball.",
                "A supremum of something constant is that constant.",
            ),
            (
                ("It was averaged out.", "Averages are over signs. The supremum is over matrices."),
                ("The best matrix was computed.", "That would work too, but nothing was computed."),
            ),
            "Cauchy-Schwarz separates the matrix from the noise. The matrix only enters through its budget.",
        )
    ),
    "s9": Note(
        Question(
            "c6-rms",
            "A number is 1 or 7 with equal chance. Its average is 4. What is its root mean square: the root of the average square?",
            Number(
                lambda: sympy.sqrt(sympy.Rational(1 + 49, 2)),
                "0.001",
                "Average the squares 1 and 49, then take the root.",
            ),
            "The root of 25. A root mean square is never below the average. We accept the loss because squares of a signed sum are easy.",
        )
    ),
    "s10": Note(Asked("line")),
    "s11": Note(Asked("hypothesis")),
    "s12": Note(Asked("multiplier")),
}

MATRIX_SERIES = {
    "s5": Note(
        choose(
            "c6-why-cosh",
            "We want the average of a norm. Why do we look at the average of the *hyperbolic cosine* of the norm first?",
            (
                "It grows so fast that the largest singular value outweighs all others.",
                "So a trace, which is easy, says almost as much as the norm.",
            ),
            (
                ("Because it is bounded.", "It grows like an exponential."),
                ("Because it is linear.", "Then it would say nothing new."),
            ),
            "The trace of a function of a matrix is a sum over its singular values, and averages of traces can be bounded. An exponential "
            "function makes the largest singular value dominate the sum. This is the step for which the literature is cited.",
        )
    ),
    "s6": Note(
        choose(
            "c6-convex",
            "The average moves from outside of the function to its inside. Which property of the function allows it?",
            ("It is convex.", "Its value at an average is at most the average of its values."),
            (
                ("It is increasing.", "Needed elsewhere. It does not move an average."),
                ("It is even.", "True, but it does not move an average either."),
            ),
            "This is Jensen's inequality.",
            line_shown=True,
        )
    ),
    "s9": Note(
        choose(
            "c6-take-log",
            "What does the logarithm do to a product of a dimension and an exponential?",
            (
                "It makes a sum: the logarithm of the dimension, plus the exponent.",
                "This is how a logarithm of a dimension enters.",
            ),
            (
                ("It removes the dimension.", "It stays, as a logarithm."),
                ("It makes a product of two logarithms.", "The logarithm of a product is a sum."),
            ),
            "The logarithm is increasing, so the inequality stays. And it turns the product into a sum, which is why the dimension costs so little.",
        )
    ),
    "s10": Note(Asked("multiplier")),
    "s11": Note(Asked("optimum")),
}
