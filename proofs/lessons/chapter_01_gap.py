"""Chapter 1: what a generalization gap is, and why counting parameters says nothing."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import bound_of
from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say

CHAPTER = Chapter(
    number=1,
    slug="gap",
    title="The gap, and why counting parameters fails",
    short="The gap",
    goal="A model does well on its training examples. What does that promise about the next example? We make the "
    "question exact, answer it for a model that was fixed in advance, and see the answer break for a trained one.",
    items=(
        Say(
            "A model has been trained on {symbol:m} examples. On each example we measure a *loss*: a number from 0 "
            "(right) to 1 (wrong).\n\n"
            "Two averages matter. The *empirical risk* {symbol:emp_risk} is the average loss on the training examples. "
            "We can compute it. The *risk* is the average loss on a new example from the same source. We cannot "
            "compute it, because we have not seen the new examples.\n\n"
            "The *generalization gap* is the risk minus the empirical risk. A gap of 0.02 means: on new examples the "
            "model is wrong 2 percentage points more often than it was in training.",
            title="Two averages",
        ),
        Question(
            "c1-why-gap",
            "A network reaches training error zero. What do we know about its risk?",
            (
                Choice(
                    "It is small, because the training error is small.",
                    "A table that stores all training answers also has training error zero, and it knows nothing "
                    "about new examples.",
                ),
                Choice(
                    "Nothing yet: the gap may be anything from 0 to 1.",
                    "Training error alone is no promise. We need an argument about the gap.",
                    right=True,
                ),
                Choice(
                    "It is large, because the network has overfitted.",
                    "Zero training error does not prove overfitting. Many such networks have a small risk.",
                ),
            ),
            "The risk is the training error plus the gap. Training made the first part zero. Nothing has been said about "
            "the second part.",
        ),
        Say(
            "Begin with an easy case. Somebody hands us a finished model. *Then* we draw fresh examples and count its "
            "errors. The examples had no influence on the model. The number of errors is a coin-tossing "
            "experiment, and we can say exactly how large the risk may be.",
            title="A model that was fixed first",
        ),
        Result("test-set"),
        Say(
            "For instance: 20 errors on 1000 fresh examples. With {symbol:delta} = 0.05 the risk is at most "
            "{value:test-set:k_errors=20,n_test=1000,delta=0.05}. This is the best promise in the whole course. Its price "
            "is a set of examples that was not used for training.",
        ),
        Question(
            "c1-why-not-train",
            "Why can we not put the *training* examples into this theorem?",
            (
                Choice("There are too many of them.", "More examples only help."),
                Choice(
                    "The model was chosen by looking at them.",
                    "Right: the theorem speaks of one model that was fixed before the examples were drawn.",
                    right=True,
                ),
                Choice(
                    "Training examples have noise in their labels.",
                    "So have fresh examples. Noise is not the point.",
                ),
            ),
            "Toss a coin ten times, for a thousand people. Some person will get ten heads. If we pick that person *after* "
            "the tosses, ten heads prove nothing. Training picks the model after the tosses.",
        ),
        Say(
            "To repair this we ask for more: with high probability the gap is small for *all* models that training "
            "could have picked, at the same time. Then it does not matter which one was picked.\n\n"
            "The simplest way to say how many models there are is to count the bits that describe one. A model that is "
            "written down in {symbol:code_bits} bits is one of at most two to the power {symbol:code_bits} models.",
            title="All models at once",
        ),
        Result("D-hoeffding"),
        Say(
            "Put in a small language model: 22 million parameters of 32 bits, trained on a million examples, with training "
            "error zero. The bound is {value:D-hoeffding:code_bits=704000000,emp_risk=0,m=1000000,delta=0.05}.\n\n"
            "A risk is never above 1. So this theorem is true here and says nothing. We call such a bound *vacuous*. "
            "A certified report says so in words, and never hides it behind a picture.",
        ),
        Program(
            "from proofs.lessons.numbers import evaluate, shown_above\n"
            "from proofs.theorems import THEOREMS\n\n"
            "given = {'emp_risk': 0, 'm': 1_000_000, 'delta': '0.05'}\n"
            "for bits in (32, 8, 4, 1):\n"
            "    code = 22_000_000 * bits\n"
            "    bound = evaluate(THEOREMS['D-hoeffding'].prefix, given | {'code_bits': code})\n"
            "    print(bits, 'bits for each parameter:', shown_above(bound))\n",
            "Even one bit for each parameter is too much. Counting parameters fails. We need a better count.",
        ),
        Say(
            "In 2025 a paper proposed to count something smaller. An attention layer multiplies its tokens by an "
            "*attention matrix*. Such matrices often have a small *effective rank*: most of the matrix is explained by "
            "a few directions. The proposal: let the capacity be the largest effective rank of the attention matrices over "
            "the layers. The gap should then fall like the square root of this rank divided by {symbol:m}.\n\n"
            "This would be wonderful. It is not true as stated, and {chapter:8} shows exactly where it breaks. But the two tools "
            "it rests on, contraction for vectors and matrix concentration, are sound. With them we prove theorems that do "
            "hold, constant by constant. That is the way of this course.",
            title="A smaller count?",
        ),
        Question(
            "c1-claim",
            "A claimed bound uses only the effective rank of the attention matrices. Which test should make us suspicious at once?",
            (
                Choice(
                    "Sequences of a single token: every attention matrix is then the number 1.",
                    "Then the claimed capacity is 1 for every network, however large.",
                    right=True,
                ),
                Choice(
                    "Very long sequences.",
                    "Long sequences may be a problem for other bounds. Here think short.",
                ),
                Choice(
                    "Models with many heads.",
                    "The claim takes the largest rank over layers; heads do not break it at once.",
                ),
            ),
            "With one token, attention does nothing. The rest of the network may still be anything. A bound that does not see "
            "the rest of the network cannot be right. This is Proposition N0 of {chapter:8}.",
        ),
    ),
    exercises=(
        Question(
            "c1-ex-vacuous",
            "A report prints a bound of 1.7 for a loss in [0, 1]. What is the right reading?",
            (
                Choice(
                    "The report has a mistake: a risk cannot be 1.7.",
                    "The bound may be correct. A bound is allowed to be too large.",
                ),
                Choice(
                    "The statement is true and useless.",
                    "A true statement with no content: vacuous.",
                    right=True,
                ),
                Choice("The model is bad.", "The bound says nothing about the model, good or bad."),
            ),
            "An upper bound above 1 holds for every loss in [0, 1]. It needs no theorem.",
        ),
        Question(
            "c1-ex-bits",
            "A compressed model takes 2000 bits and makes no error on 100,000 training examples. With a failure probability of "
            "0.05, what does the bound of this chapter promise for its risk? (three digits)",
            Number(
                lambda: bound_of(
                    "D-hoeffding", code_bits=2000, emp_risk=0, m=100000, delta=sympy.Rational(1, 20)
                ),
                "0.001",
                "Multiply the bits by log 2, add log(1/0.05), divide by twice the number of examples, take the root.",
            ),
            "The bits times log 2 are about 1386, the confidence adds about 3. Divided by 200,000 and under the root.",
        ),
        Question(
            "c1-ex-uniform",
            "Why do we ask that the gap be small for *all* models of the class at once?",
            (
                Choice(
                    "Because training may pick any of them, after seeing the sample.", "Exactly.", right=True
                ),
                Choice("Because we want to use all of them.", "We use one. We do not know beforehand which."),
                Choice("Because a single model has no gap.", "Every model has a gap."),
            ),
            "A statement about all models holds for the one that was picked, however it was picked.",
        ),
    ),
    sources=(
        "S. Shalev-Shwartz and S. Ben-David, Understanding Machine Learning, 2014, chapters 2-5.",
        "A. Dhingra, Provable Generalization in Overparameterized Neural Nets, arXiv:2508.17256 (the proposal).",
        "J. Langford, Tutorial on Practical Prediction Theory for Classification, JMLR 6, 2005 (test sets and bits).",
    ),
)
