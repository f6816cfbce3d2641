"""Chapter 4: contraction, Khintchine's inequality, and vector contraction."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import contraction_figure, khintchine_constant, khintchine_figure
from proofs.lessons.model import Chapter, Choice, Live, Number, Question, Result, Say, Steps
from proofs.lessons.steps.contraction import KAHANE, KHINTCHINE, MAURER, STEP

CHAPTER = Chapter(
    number=4,
    slug="contraction",
    title="Contraction: removing the loss, then a whole softmax",
    short="Contraction",
    goal="The class that we can analyse is made of scores. The class that we must bound is made of losses of those scores. Contraction "
    "removes the map between them. For maps with many inputs it costs a constant. We see where "
    "this constant comes from.",
    items=(
        Say(
            "A map is {symbol:L}-*Lipschitz* if it never stretches a distance by more than a factor {symbol:L}. A map that does not "
            "stretch cannot help a class to follow noise. That is the contraction principle: losses of scores are no more complex than the scores, "
            "times the Lipschitz constant.",
            title="Maps that do not stretch",
        ),
        Result("Lemma 5"),
        Question(
            "c4-one-sided",
            "In many books this lemma has an extra factor. Where does ours go?",
            (
                Choice(
                    "We never take the modulus of the signed mean.",
                    "The factor pays for the modulus, and we do not need the modulus.",
                    right=True,
                ),
                Choice(
                    "We assume that the map sends 0 to 0.",
                    "That assumption is needed *with* the modulus. Ours does not need it.",
                ),
                Choice(
                    "We lose it in the constants later.",
                    "Nothing is lost: {symbol:L} is the only constant in the lemma.",
                ),
            ),
            "The one-sided complexity of {chapter:2} is enough for an upper bound on the gap. It contracts by {symbol:L} alone, and without "
            "any condition at zero.",
        ),
        Say(
            "A softmax head has *many* scores for one example: one for each token. We want to give each score a coin of its own.\n\n"
            "Two sizes of a list of numbers meet here. The Lipschitz condition speaks of its *length*: the root of the sum of squares. "
            "The coins give its *signed sum*: add the numbers, each with a random plus or minus. The signed sum is smaller on average, "
            "because plus and minus cancel. How much smaller can it be?",
            title="From one number to many",
        ),
        Result("Lemma 6 (vector)"),
        Live(
            "khintchine",
            "Drag the vector: when is the ratio smallest?",
            "Turn the vector with the pointer or the slider. The ratio is one when a single weight does everything. It meets the constant "
            "of the lemma at two equal weights and nowhere else. A third weight lifts the curve. So the constant cannot be improved.",
            khintchine_figure,
        ),
        Question(
            "c4-equal",
            "For the vector with two equal weights 1 and 1, what is the average size of the signed sum?",
            Number(lambda: sympy.Integer(1), "0.001", "The four sums are 2, 0, 0 and -2."),
            "The sums are 2, 0, 0 and -2. Their sizes average to one. The length of the vector is {constant:Lemma 6 (vector):1}. The ratio of the two is the "
            "worst possible.",
        ),
        Say(
            "The proof looks at the *norm* of the signed sum as a function of the signs, and turns one sign at a time. It works in any space with a "
            "norm, so it is stated for that.",
            title="Why this constant",
        ),
        Result("Lemma 6"),
        Steps("Lemma 6", KAHANE),
        Steps("Lemma 6 (vector)", KHINTCHINE, only=("s1", "s2", "s4")),
        Say(
            "Now the main tool. It removes a Lipschitz map of a whole vector of outputs, and gives each output its own sign. It was proved by "
            "Maurer in 2016. Its level here: {level:Lemma 7}.",
            title="Vector contraction",
        ),
        Result("Lemma 7"),
        Steps("Lemma 7 (step)", STEP),
        Steps("Lemma 7", MAURER),
        Live(
            "contraction",
            "Every sign, counted",
            "Four functions, two points, two outputs each. The left side uses one sign for each point, after the map. The right side uses one "
            "sign for each output, before the map. All 4 and all 16 patterns are counted. Try to bring the ratio above one.",
            contraction_figure,
        ),
    ),
    exercises=(
        Question(
            "c4-ex-constant",
            "What is the smallest possible ratio of the average signed sum to the length of the vector? (three digits)",
            Number(
                lambda: 1 / khintchine_constant(), "0.001", "It is one divided by the constant of the lemma."
            ),
            "One divided by {constant:Lemma 6 (vector):1}. It is reached at two equal weights.",
        ),
        Question(
            "c4-ex-three",
            "Average size of the signed sum for three equal weights of 1?",
            Number(
                lambda: sympy.Rational(3, 2),
                "0.001",
                "The sums are 3, 1, -1 and -3. Count how often each one occurs.",
            ),
            "Two of the eight patterns give size 3, six give size 1. The average is 12/8.",
        ),
        Question(
            "c4-ex-depth",
            "May we remove a *trained* second layer by vector contraction, as if it were the loss?",
            (
                Choice(
                    "No: the removed map must be fixed.",
                    "A map that changes with the parameters is not one map.",
                    right=True,
                ),
                Choice(
                    "Yes, if its Lipschitz constant is bounded.",
                    "The constant may be bounded and still the *map* differs from model to model.",
                ),
                Choice(
                    "Yes, after freezing the first layer.", "The removed map itself must be the fixed one."
                ),
            ),
            "This is why a deep network cannot be peeled layer by layer with this lemma. See Proposition N6' of {chapter:8}.",
        ),
    ),
    sources=(
        "M. Ledoux and M. Talagrand, Probability in Banach Spaces, 1991 (contraction).",
        "R. Latala and K. Oleszkiewicz, On the best constant in the Khinchin-Kahane inequality, Studia Math. 109, 1994.",
        "A. Maurer, A vector-contraction inequality for Rademacher complexities, arXiv:1605.00251.",
    ),
)
