"""Chapter 7: the steps for softmax and for the theorem."""

from __future__ import annotations

from proofs.lessons.figures import (
    confidence_levels,
    gap_over_complexity_shape,
    read_out_times_contraction,
    square_gap,
)
from proofs.lessons.model import Asked, Note, Number, Question, choose

OSCILLATION = {
    "s3": Note(
        choose(
            "c7-popoviciu",
            "The weights are a probability distribution on the tokens. Which property of *variance* gives the constant?",
            (
                "A number that stays in an interval has variance at most a quarter of the squared length.",
                "Half the weight at each end is the worst case.",
            ),
            (
                ("Variances of independent numbers add up.", "There is only one number here."),
                ("Variance is never negative.", "True, and it gives a lower bound, not this one."),
            ),
            "The derivative of softmax in a direction is a covariance. Its size is a variance, and the variance of a bounded number is largest when half of "
            "the weight sits at each end.",
        )
    ),
    "s4": Note(Asked("middle")),
    "s5": Note(
        choose(
            "c7-root",
            "We pass from squares to the numbers themselves. Could the *left* side be negative, and would that hurt?",
            (
                "It would not hurt: a negative number is below a root in any case.",
                "A root is never negative.",
            ),
            (
                (
                    "It would turn the inequality round.",
                    "Turning round happens when one multiplies by a negative number.",
                ),
                ("It would make the root undefined.", "The root is of the right side, a square."),
            ),
            "From a square below a bound follows a number below the root of the bound, whatever the sign of the number. "
            "(Here it is a mean distance, so it is not negative anyway.)",
        )
    ),
    "s7": Note(
        choose(
            "c7-path",
            "We walk in a straight line from the old scores to the new ones and add up the change. Why does the length of the walk not matter?",
            (
                "The bound is the same at every place of the way, so its average is that bound.",
                "And the whole way is taken once.",
            ),
            (
                ("Because the weights do not change on the way.", "They do. That is what we add up."),
                ("Because only the end points count.", "The derivative is needed at every place in between."),
            ),
            "The change of the weights is the average of the derivative over the way. At each place the derivative is at most {constant:Lemma 12(a) (osc):1} times the oscillation.",
        )
    ),
}

READ_OUT = {
    "s5": Note(
        Question(
            "c7-square-gap",
            "Take 3 for the largest entry and -1 for the smallest. By how much is the right side of the next line larger than its left side, if "
            "the left is the squared difference and the right is twice the sum of the squares?",
            Number(
                lambda: square_gap(hi=3, lo=-1),
                "0.001",
                "The squared difference is 16. The sum of the squares is 10.",
            ),
            "Twenty minus sixteen. In general the two sides differ by the square of the *sum* of the two numbers, which is never negative.",
        )
    ),
    "s8": Note(Asked("number", hint="The root of twice a square.")),
    "s9": Note(
        Asked("number", hint="One half, times one half, times the root of two. The box is the denominator.")
    ),
}

COMPLEXITY = {
    "s5": Note(Asked("result")),
    "s6": Note(Asked("middle")),
    "s7": Note(
        Question(
            "c7-constants-meet",
            "Two constants meet in this step: that of the softmax read-out and that of vector contraction. What is their product?",
            Number(
                read_out_times_contraction,
                "0.001",
                "Multiply {constant:C1(i):softmax read-out} by {constant:C1(i):vector contraction}.",
            ),
            "The two roots cancel. This is why the complexity has such a simple constant.",
        )
    ),
    "s12": Note(Asked("hypothesis")),
    "s15": Note(
        choose(
            "c7-still-fixed",
            "The scores are linear in the trained matrix, but softmax is not. Why may we compute as if the head were linear here?",
            (
                "Contraction has removed the softmax. What carries the signs now are the scores.",
                "That was the purpose of {chapter:4}.",
            ),
            (
                ("Softmax is nearly linear.", "Not for sharp heads. And *nearly* proves nothing."),
                ("The signs make everything linear.", "They do not change the head."),
            ),
            "After contraction the inside is an inner product of the matrix with a signed sum of fixed matrices. From here on it is {chapter:6} word for word.",
        )
    ),
    "s17": Note(
        Asked(
            "number",
            hint="Multiply the root of two by the constant of the read-out, and look at the denominator.",
        )
    ),
}

THEOREM = {
    "s7": Note(
        choose(
            "c7-this-sample",
            "The sum under the root is measured on *our* sample. Why is a complexity that depends on the sample good enough?",
            (
                "The deviation bound asks for the complexity on the sample at hand.",
                "Lemma 3(c) was made for this.",
            ),
            (
                (
                    "Because the sum is the same for all samples.",
                    "It is not. Longer sequences give larger sums.",
                ),
                ("Because we take its average afterwards.", "No average over samples is taken any more."),
            ),
            "The empirical complexity is a number that we can compute from the sample, and {see:Lemma 3(c)} accepts it.",
        )
    ),
    "s12": Note(
        Question(
            "c7-events",
            "How many times is the failure probability {symbol:delta} spent in this step?",
            Number(
                confidence_levels,
                "0.001",
                "Compare with the textbook's way, which spends it in two halves.",
            ),
            "Once. One use of concentration, for one number. The textbook form would split it in two and pay the constant {constant:Lemma 3(b):2} instead of "
            "{constant:Lemma 3(c):2}.",
        )
    ),
    "s14": Note(
        Question(
            "c7-gap-constant",
            "The complexity is put into the deviation bound, and like factors cancel. Which factor is left in front of Lipschitz constant times Frobenius budget times root, "
            "divided by {symbol:m}?",
            Number(
                gap_over_complexity_shape,
                "0.001",
                "The complexity has one half. The deviation bound doubles it.",
            ),
            "Two halves. The first part of the bound has no constant at all: every constant on the way has been paid back by another one.",
        )
    ),
}
