"""Chapter 3: the steps of the uniform deviation bound."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Asked, Note, Number, Question, choose

DEVIATION = {
    "s4": Note(
        choose(
            "c3-one-unit",
            "One example is exchanged. Why does the largest gap over the *whole class* move no more than the gap of a "
            "single model?",
            (
                "If no model's gap moves by more than a step, the largest gap cannot either.",
                "The new winner was at most one step below before.",
            ),
            (
                (
                    "Because the largest gap always belongs to the same model.",
                    "The winner may change. The bound holds all the same.",
                ),
                ("Because the class is finite.", "It need not be."),
            ),
            "Call the step one over {symbol:m} (times the largest loss). After the exchange every gap is within one step of "
            "what it was. So is the largest of them.",
        )
    ),
    "s5": Note(
        Question(
            "c3-half",
            "One loss changes from 0 to 1. By how much can the *complexity* change, at most, in units of one over {symbol:m}?",
            Number(
                lambda: sympy.Rational(1, 2),
                "0.001",
                "The changed loss carries a random sign. When the sign is minus, the best model need not gain from it.",
            ),
            "With sign plus the supremum may gain one unit. With sign minus the best model may dodge the loss. The average of "
            "one and zero is one half.",
        )
    ),
    "s6": Note(
        choose(
            "c3-better",
            "Can we do better than using concentration twice, once for the gap and once for the complexity?",
            (
                "Yes: apply it once, to the gap *minus* twice the complexity.",
                "The two parts move together, and one event is enough.",
            ),
            (
                (
                    "No: two random numbers need two events.",
                    "They are computed from the same sample. Combine them first.",
                ),
                ("Yes: by ignoring the second use.", "Then the bound would not hold."),
            ),
            "The gap minus twice the complexity is a single number that depends on the sample. Its average is at most zero, by "
            "{chapter:2}. So one use is enough.",
        )
    ),
    "s7": Note(Asked("result")),
    "s9": Note(
        choose(
            "c3-mean-below-zero",
            "The gap minus twice the complexity stays close to its average. What do we know about this average?",
            ("It is at most zero.", "The average gap is at most twice the average complexity."),
            (
                ("It is exactly zero.", "Symmetrization is an inequality. The average may be negative."),
                ("It is at most one.", "True, and useless here."),
            ),
            "This is {chapter:2} in one line: on average, the gap is at most {constant:Lemma 1:1} times the complexity.",
        )
    ),
    "s10": Note(
        Asked(
            "number",
            1,
            "A root of the number of examples moves under the root. Nothing else happens to the factor.",
        )
    ),
}
