"""Chapter 2: the ghost sample, the random signs, and Rademacher complexity."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.signs import SYMMETRIZATION

CHAPTER = Chapter(
    number=2,
    slug="signs",
    title="Symmetrization: trading the unknown for coin tosses",
    short="Symmetrization and signs",
    goal="The risk is an average over examples we never see. We replace it by coin tosses on the examples that we have. "
    "The price is a constant, the first entry of our ledger.",
    items=(
        Say(
            "We want to bound the largest gap over a class of models. The trouble is the risk: it depends on the unknown "
            "source of examples.\n\n"
            "Here is the idea. Imagine a second sample from the same source, the *ghost sample*. On average, the "
            "ghost sample shows the risk. So the gap is, on average, a difference of two samples that look alike.",
            title="A ghost sample",
        ),
        Say(
            "Now exchange some examples with their ghosts, and choose by fair coins which ones. Each exchange turns the sign of one "
            "term. So we may put a random sign, plus or minus one, before every term, and the average stays as it was.\n\n"
            "Now forget the ghosts. Toss a coin for each example and write down plus or minus. A model *follows* the coins if its loss "
            "is high where we wrote plus and low where we wrote minus. The coins know nothing about the examples. So to follow them is "
            "luck.\n\n"
            "A single model has no luck on average. But we toss first and then pick the luckiest model of the class. The more "
            "the class has to offer, the luckier the pick. How lucky, on average over all tosses, is the *Rademacher complexity* of the "
            "class. This is the capacity we were looking for. It depends on the class *and* on the sample.",
            title="How well can a class follow noise?",
        ),
        Program(
            "from fractions import Fraction\n"
            "from itertools import product\n\n"
            "def complexity(losses):\n"
            '    """Average over all signs of the best signed mean. A row holds one model\'s losses."""\n'
            "    m = len(losses[0])\n"
            "    best = [max(sum(s * x for s, x in zip(signs, row)) for row in losses)\n"
            "            for signs in product((-1, 1), repeat=m)]\n"
            "    return Fraction(sum(best), m * len(best))\n\n"
            "print('one model:      ', complexity([(0, 1, 1)]))\n"
            "print('two models:     ', complexity([(0, 1, 1), (1, 0, 0)]))\n"
            "print('all 0-1 patterns:', complexity(list(product((0, 1), repeat=3))))\n",
            "One model cannot follow noise at all. The class of all patterns follows it perfectly: it is right on every plus, and "
            "half of the signs are plus.",
        ),
        Question(
            "c2-one-model",
            "Why is the complexity of a single model exactly zero?",
            (
                Choice(
                    "Each sign is plus or minus with equal chance, so each signed loss is zero on average.",
                    "With nothing to choose from, the noise cancels.",
                    right=True,
                ),
                Choice("Because its losses are small.", "It is zero for large losses too."),
                Choice("Because a single model is always fitted perfectly.", "Fit plays no role here."),
            ),
            "The best of one is that one. Its signed mean is zero on average. Complexity measures *choice*.",
        ),
        Result("Lemma 1"),
        Say(
            "Here is the whole proof. First the risk is written with a ghost sample, then the signs come in, and at the end the two "
            "samples part. Watch for the step in which each sample may choose a model of its own.",
        ),
        Steps("Lemma 1", SYMMETRIZATION, only=("s2", "s4", "s6", "s7", "s9", "s12")),
        Question(
            "c2-factor",
            "Where does the constant {constant:Lemma 1:1} come from?",
            (
                Choice(
                    "From the two samples: real and ghost each contribute one complexity.",
                    "Yes, the supremum is split in two.",
                    right=True,
                ),
                Choice("From the two values of a sign.", "The signs are averaged out. They cost nothing."),
                Choice("It is there for safety.", "No constant in this course is there for safety."),
            ),
            "After the signs are in, the best difference is at most the best first part plus the best second part. Both parts "
            "have the same average, so it is counted twice.",
        ),
        Say(
            "Note what has *not* been used: nothing about networks, attention or ranks. And note the missing modulus: we follow "
            "the signs with the signed mean, not with its size. This one-sided form is enough, because we only fear a risk that is "
            "*larger* than the training error. Keeping it one-sided saves a factor later, in {chapter:4}.",
        ),
    ),
    exercises=(
        Question(
            "c2-ex-two",
            "A class has two models. On a single example their losses are 0 and 1. What is its Rademacher complexity on this "
            "sample of one?",
            Number(
                lambda: sympy.Rational(1, 2),
                "0.001",
                "List both signs. For each, take the better of the two models.",
            ),
            "Sign plus: the best is 1. Sign minus: the best is 0. The average is one half.",
        ),
        Question(
            "c2-ex-shift",
            "We add the same fixed number to every loss of every model. What happens to the complexity?",
            (
                Choice("It stays the same.", "The added part has average zero over the signs.", right=True),
                Choice("It grows by that number.", "Average the added part over the signs."),
                Choice("It doubles.", "Nothing here doubles."),
            ),
            "The added number times a random sign is zero on average, and it does not influence which model is best.",
        ),
        Question(
            "c2-ex-parity",
            "A class reproduces every 0-1 pattern on its {symbol:m} examples. What is its complexity?",
            Number(
                lambda: sympy.Rational(1, 2), "0.001", "On how many examples is the sign plus, on average?"
            ),
            "It collects every plus and avoids every minus. On average half of the signs are plus.",
        ),
    ),
    sources=(
        "P. Bartlett and S. Mendelson, Rademacher and Gaussian complexities, JMLR 3, 2002.",
        "M. Mohri, A. Rostamizadeh and A. Talwalkar, Foundations of Machine Learning, 2018, chapter 3.",
    ),
)
