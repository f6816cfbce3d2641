"""Chapter 9: the steps of the theorem on bits and of peeling."""

from __future__ import annotations

from proofs.lessons.figures import nats_of, share_of_cell
from proofs.lessons.model import Note, Number, Question, choose

BITS = {
    "s4": Note(
        Question(
            "c9-nats",
            "A model has a code of 10 bits. Its weight is two to the power of minus ten. What is the logarithm of one over this weight? (two digits)",
            Number(lambda: nats_of(10), "0.05", "One bit is log 2, about 0.69."),
            "Ten times log 2. The price of a model in the bound is the length of its code, counted in natural units.",
        )
    ),
    "s5": Note(
        choose(
            "c9-kraft",
            "Why must the code be a *prefix* code?",
            (
                "Then the weights of all its models add up to at most one.",
                "So the failure probability can be shared over them.",
            ),
            (
                ("So that it can be read quickly.", "Convenient, but not the point."),
                (
                    "So that it is short.",
                    "The shortest codes that are not prefix codes would be shorter still.",
                ),
            ),
            "Each model gets a share of the failure probability, two to the power of minus its length. Kraft's inequality says that the shares add up to at most one.",
        )
    ),
}

PEELING = {
    "s12": Note(
        Question(
            "c9-share-zero",
            "Budget number zero is the smallest of the grid. Which share of {symbol:delta} = 0.05 does it get?",
            Number(
                lambda: share_of_cell(0) / 20,
                "0.0001",
                "The weight of budget number {symbol:j} is {constant:P:grid weight}.",
            ),
            "One over one times two: half of it. The deviation bound is then used for this budget alone, at its own share.",
        )
    ),
    "s14": Note(
        choose(
            "c9-log-of-share",
            "Each budget has a small share of the failure probability. How does this show in the bound?",
            (
                "As one more logarithm, added under the root.",
                "The logarithm of one over a product is a sum.",
            ),
            (
                (
                    "As a factor in front of the complexity.",
                    "The complexity does not know about probabilities.",
                ),
                ("Not at all.", "Nothing is free, but this is cheap."),
            ),
            "The share of budget number {symbol:j} is {constant:P:grid weight} of the whole, and its price is the logarithm of one over that. For a thousand budgets that is less than fourteen, and it is divided by {symbol:m}.",
        )
    ),
    "s15": Note(
        choose(
            "c9-shares",
            "Infinitely many budgets share one failure probability. How can that be?",
            (
                "The shares shrink, and their sum is the whole.",
                "The weight of budget number {symbol:j} is {constant:P:grid weight}.",
            ),
            (
                ("Only finitely many are used.", "We do not know beforehand which, so all need a share."),
                ("Each gets the whole.", "Then the sum would be infinite."),
            ),
            "One half, one sixth, one twelfth, and so on: the sum is one.",
        )
    ),
}
