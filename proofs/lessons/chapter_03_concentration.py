"""Chapter 3: how far a sample can stray from its average."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import confidence_constant
from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.concentration import DEVIATION

CHAPTER = Chapter(
    number=3,
    slug="concentration",
    title="Concentration: one example cannot change much",
    short="Concentration",
    goal="Chapter 2 spoke of averages over samples. We have one sample. Here we learn how far one sample can stray, and we find "
    "a better constant than the textbook's.",
    items=(
        Say(
            "Take a number that is computed from {symbol:m} independent examples. Suppose that exchanging a single example "
            "changes it only a little. Then the number is almost always close to its average. No single example has the power to "
            "pull it away, and they do not conspire, because they are independent.",
            title="Bounded differences",
        ),
        Question(
            "c3-average",
            "The losses lie in [0, 1]. We exchange one of {symbol:m} examples. How much can the *average* loss change?",
            (
                Choice(
                    "By at most one divided by {symbol:m}.",
                    "One loss changes by at most 1, and it is divided by the number of examples.",
                    right=True,
                ),
                Choice("By at most 1.", "That is the change of one loss, before it is averaged."),
                Choice("It cannot change.", "It can: one loss may go from 0 to 1."),
            ),
            "One term of the average moves by at most 1. The average divides it by the number of examples.",
        ),
        Result("Lemma 2"),
        Say(
            "We use it for the largest gap over the class. Exchange one example: each model's average moves by at most one over "
            "{symbol:m}, so the largest gap does too.\n\n"
            "Now chain three facts. The largest gap is close to its average (this lemma). Its average is at most {constant:Lemma 1:1} times the complexity "
            "({chapter:2}). The complexity of the class on *our* sample is close to its average (this lemma again). The textbook adds the "
            "prices of both uses, and it splits the failure probability in two.",
        ),
        Result("Lemma 3(b)"),
        Say(
            "There is one more saving. How much does the *complexity* change when one example changes? The textbook says: as much as "
            "the average. In fact only half as much. The changed example carries a random sign. Half of the time the sign is plus, half of "
            "the time minus, and the two cases share one and the same unit of change.",
            title="Half a step",
        ),
        Result("Lemma 3(c)"),
        Steps("Lemma 3(c)", DEVIATION),
        Program(
            "from proofs.lessons.catalogue import catalogue\n"
            "from proofs.lessons.numbers import evaluate\n\n"
            "lemmas = catalogue()\n"
            "for name in ('Lemma 3(b)', 'Lemma 3(c)'):\n"
            "    confidence = 2 * evaluate(lemmas[name].last_term, {'M': 1, 'm': 2, 'delta': '0.05'})\n"
            "    print(name, round(float(confidence), 2))\n",
            "Both numbers are divided by the root of twice {symbol:m}. The second saves 40 per cent of this part at this failure probability, for every class and "
            "every sample. It is what all bounds of this course use.",
        ),
    ),
    exercises=(
        Question(
            "c3-ex-confidence",
            "What is the confidence part of the bound (the part without the complexity) at {symbol:m} = 10,000 and "
            "{symbol:delta} = 0.05? (three digits)",
            Number(
                lambda: confidence_constant(10000, sympy.Rational(1, 20)),
                "0.0005",
                "Twice the root of log(1/0.05) over twice 10,000.",
            ),
            "The logarithm is about 3.0. Divide by 20,000, take the root, double it.",
        ),
        Question(
            "c3-ex-delta",
            "We want to be wrong once in a million samples instead of once in twenty. Roughly what happens to the confidence part?",
            (
                Choice(
                    "It doubles, roughly.",
                    "The logarithm grows from 3 to 14, and we take its root.",
                    right=True,
                ),
                Choice("It grows 50,000 times.", "The failure probability enters through a logarithm."),
                Choice("It does not change.", "More certainty always has a price. Here the price is small."),
            ),
            "Certainty is cheap: the failure probability enters through the root of a logarithm.",
        ),
        Question(
            "c3-ex-independent",
            "Ten copies of each example are added to the training set. May we now use ten times as many examples in the bound?",
            (
                Choice(
                    "No: the copies are not independent.", "The lemma needs independent examples.", right=True
                ),
                Choice("Yes: the count is what it is.", "The count must be a count of *independent* draws."),
                Choice("Yes, if they are shuffled.", "Shuffling does not create independence."),
            ),
            "This is why near-duplicates must be removed before a certificate, and why the unit is a whole document and never a token.",
        ),
    ),
    sources=(
        "C. McDiarmid, On the method of bounded differences, 1989.",
        "M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2018, theorem 3.3 (the textbook constant).",
    ),
)
