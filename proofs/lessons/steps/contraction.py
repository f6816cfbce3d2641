"""Chapter 4: the steps of Khintchine's inequality and of vector contraction."""

from __future__ import annotations

from itertools import product

import sympy

from proofs.lessons.figures import left_side_factor
from proofs.lessons.model import Asked, Note, Number, Question, choose


def _mean_square() -> sympy.Expr:
    """The average squared signed sum of the vector (3, 4), by counting."""
    sums = [s * 3 + t * 4 for s, t in product((-1, 1), repeat=2)]
    return sympy.Rational(sum(x * x for x in sums), len(sums))


KAHANE = {
    "s1": Note(
        Question(
            "c4-turned",
            "Add up five vectors. Then turn the sign of one vector at a time, which gives five more sums. Add these five sums "
            "up. How many times the original sum is this?",
            Number(
                lambda: left_side_factor("Lemma 6", "s1", N=5),
                "0.001",
                "Each vector keeps its sign in four of the five sums and is turned in one.",
            ),
            "Four times plus, once minus: each vector counts three times. For {symbol:N} vectors the number is two less than "
            "{symbol:N}. The triangle inequality then compares the norms.",
        )
    ),
    "s2": Note(Asked("multiplier")),
    "s3": Note(
        choose(
            "c4-times-g",
            "The next line is this line, multiplied by the norm of the signed sum. Why is that allowed?",
            (
                "A norm is never negative.",
                "Multiplying by a negative number would turn the inequality round.",
            ),
            (
                ("A norm is never zero.", "It may be zero. Then both sides are zero, and nothing is wrong."),
                ("A norm is even in the signs.", "True, and needed later. It is not what allows this."),
            ),
            "An inequality keeps its direction when both sides are multiplied by something that is not negative.",
        )
    ),
    "s4": Note(
        choose(
            "c4-average",
            "The line holds for every pattern of signs. What follows for the averages over all patterns?",
            ("The same inequality.", "Add the lines of all patterns and divide by their number."),
            (
                ("Nothing: averages may behave differently.", "An average of smaller numbers is not larger."),
                ("The opposite inequality.", "Adding lines up does not turn them round."),
            ),
            "An average keeps inequalities. It is the simplest of the increasing places.",
        )
    ),
    "s5": Note(
        choose(
            "c4-even",
            "Turn *all* signs at once. What happens to the norm of the signed sum, and why does it matter?",
            (
                "It stays the same: so only parts of even degree occur.",
                "Degree 1 is absent, and the next degree, 2, gives the constant.",
            ),
            (
                ("It changes its sign.", "The sum does. Its norm does not."),
                ("It becomes zero.", "The norm of minus a vector is the norm of the vector."),
            ),
            "The norm is an even function of the signs. Its parts of odd degree vanish. So everything but the average has degree 2 or "
            "more, and this 2 is the one under the root.",
        )
    ),
    "s6": Note(
        Asked("number", hint="Call the mean square A and the squared mean B. Then 2(A - B) is at most A.")
    ),
    "s7": Note(
        choose(
            "c4-roots",
            "We take roots on both sides. Which property of the root is used?",
            ("It is increasing.", "A larger number has a larger root."),
            (
                (
                    "It is concave.",
                    "It is. But concavity compares a root of an average with an average of roots.",
                ),
                ("It is at most the number itself.", "Not for numbers below one."),
            ),
            "An increasing function keeps an inequality. Both sides are not negative, so the roots exist.",
        )
    ),
    "s8": Note(Asked("number", hint="The root of a product is the product of the roots.")),
}

KHINTCHINE = {
    "s1": Note(
        choose(
            "c4-norm-of-number",
            "Now the vectors are plain numbers. Which norm does the last lemma then speak of?",
            ("The modulus.", "It is the norm of the real line."),
            (
                (
                    "The length of the whole vector.",
                    "The vector of weights is fixed. The *signed sum* is what gets a norm.",
                ),
                ("The largest entry.", "The signed sum is one number. It has no entries."),
            ),
            "A number is a vector with one coordinate. Its norm is its modulus, and the lemma holds as it stands.",
        )
    ),
    "s2": Note(
        Question(
            "c4-pythagoras",
            "A vector has the weights 3 and 4. What is the average of the *squared* signed sum?",
            Number(_mean_square, "0.001", "The four sums are 7, -1, 1 and -7. Square them and average."),
            "The squares are 49, 1, 1 and 49, and they average to 25. This is 9 plus 16: mixed products have sign plus or minus with "
            "equal chance, and only the squares are left.",
        )
    ),
    "s4": Note(Asked("middle")),
}

STEP = {
    "s2": Note(Asked("result")),
    "s3": Note(
        choose(
            "c4-length",
            "Two lines meet here: the Lipschitz condition, and Khintchine's inequality. What do they share?",
            (
                "The length of the difference of two outputs.",
                "One bounds the map by the length, the other bounds the length by signed sums.",
            ),
            (
                ("The random signs.", "They stand in one of the two only."),
                (
                    "The supremum over the models.",
                    "It is not there yet. The line holds for each pair of models.",
                ),
            ),
            "The length is the bridge. It is in the Lipschitz condition because the condition is about distances, and it leaves "
            "because Khintchine trades it for signs.",
        )
    ),
    "s4": Note(
        choose(
            "c4-two",
            "One random sign, plus or minus, stands before the map. How does it turn into *two* models?",
            (
                "With plus the best model is one, with minus another: the average of the two cases has both.",
                "Two cases, two choices.",
            ),
            (
                ("There are two samples.", "There is one sample here. The ghost is gone."),
                ("The class is split in halves.", "Both choices run over the whole class."),
            ),
            "The average over one sign is half the sum of two suprema. Each has its own best model.",
        )
    ),
    "s5": Note(Asked("line")),
    "s6": Note(
        choose(
            "c4-after-signs",
            "On the left the second model is chosen before the signs are known, on the right after. Which side is larger?",
            ("The right side.", "Who knows the signs can choose at least as well."),
            (
                ("The left side.", "The later choice may copy the earlier one. So it is never worse."),
                ("They are equal.", "Only if one model is best for all signs."),
            ),
            "A supremum of an average is at most the average of the supremum. It is the step of {chapter:2} again, for the second model.",
        )
    ),
    "s7": Note(
        choose(
            "c4-every-t",
            "The line holds for every first model. What may we do on both sides?",
            (
                "Take the supremum over the first model.",
                "If each value is below its partner, so is the largest.",
            ),
            (
                ("Choose a different first model on each side.", "Then nothing is compared any more."),
                ("Drop the first model.", "It is still in the expression."),
            ),
            "A supremum is an increasing place, like an average: put in something larger, and the result is larger.",
        )
    ),
    "s8": Note(
        Question(
            "c4-gain",
            "Two patterns of signs are equally likely. One model has the values 1 and 0 on them, another 0 and 1. By how much "
            "does the average of the best exceed the best of the averages?",
            Number(
                lambda: (
                    sympy.Rational(max(1, 0) + max(0, 1), 2)
                    - max(sympy.Rational(1 + 0, 2), sympy.Rational(0 + 1, 2))
                ),
                "0.001",
                "Each model has average one half. The best model for the pattern at hand always has 1.",
            ),
            "One against one half. This is the price of letting the first model, too, wait for the signs. We pay it, because after it "
            "both models stand inside of the average.",
        )
    ),
    "s9": Note(
        choose(
            "c4-modulus",
            "A modulus has come in from Khintchine's inequality, around a difference of two models. Why may it be dropped?",
            (
                "The supremum runs over both models, and swapping them changes the sign inside.",
                "So the supremum with the modulus and without it are equal.",
            ),
            (
                ("Because the difference is never negative.", "It can be negative for a given pair."),
                (
                    "Because the signs cancel it on average.",
                    "The modulus sits inside the average. It does not cancel.",
                ),
            ),
            "For each pair of models the swapped pair is in the supremum too, with the opposite sign inside and the same terms outside. "
            "The larger of the two is the modulus.",
            line_shown=True,
        )
    ),
    "s10": Note(
        choose(
            "c4-mirror",
            "The second model carries a minus, the first a plus. Which change of names turns one average into the other?",
            ("Replace every sign by its opposite.", "The list of all patterns stays the same."),
            (
                (
                    "Swap plus and minus in the outputs.",
                    "The outputs belong to the models. They may not be changed.",
                ),
                ("Swap the two functions outside.", "They are the same function already."),
            ),
            "Opposite signs are as likely as the signs themselves. After that only the letter of the model is left, and a letter under a "
            "supremum may be renamed.",
        )
    ),
    "s11": Note(
        choose(
            "c4-halve",
            "We began with *twice* the average on the left. What removes the factor on the left?",
            (
                "The right side has parted into two suprema with the same average.",
                "Twice the same thing on both sides: halve.",
            ),
            (
                ("The constant {constant:Lemma 7:1}.", "It stays, in front of the signed sum."),
                ("The two patterns of a single sign.", "They made the factor. They do not remove it."),
            ),
            "Without the modulus, the supremum over pairs is a sum of two suprema. By the mirror step they have the same average.",
            line_shown=True,
        )
    ),
}

MAURER = {
    "s2": Note(Asked("multiplier")),
    "s3": Note(
        choose(
            "c4-rest",
            "The step lemma handles one example. Where are the terms of all the *other* examples meanwhile?",
            ("In the function outside, which may be anything.", "The lemma allows any function there."),
            (
                ("They are dropped.", "Nothing is dropped. They come back when their turn comes."),
                ("They are averaged out.", "They are held fixed while this example is treated."),
            ),
            "The other terms do not contain this example's sign. For the moment they are just some function of the model.",
        )
    ),
    "s4": Note(
        choose(
            "c4-once",
            "The step is repeated for every example. Why does the constant not grow with their number?",
            (
                "Each use changes one term only, and the constant stands in front of that term.",
                "Every term gets the constant once.",
            ),
            (
                ("Because the constants cancel.", "All of them are larger than one. They could not cancel."),
                ("It does grow: it becomes a power.", "It would, if each step multiplied the whole sum."),
            ),
            "After the last use, each of the {symbol:m} terms has been replaced exactly once. So the whole sum has the constant once.",
        )
    ),
}
