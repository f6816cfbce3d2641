"""Chapter 10: how a floating-point singular value decomposition becomes a proof."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.numbers import LOWER, UPPER

CHAPTER = Chapter(
    number=10,
    slug="numbers",
    title="Certified numbers: how a float SVD becomes a proof",
    short="Certified numbers",
    goal="A theorem needs numbers: norms, ranks, sums. A computer rounds every one of them. We see how a rounded computation, that may even be wrong, is turned into an "
    "interval that provably contains the truth.",
    items=(
        Say(
            "A computer number has 53 binary digits. Each operation rounds. After a million operations nobody knows, without further work, how many digits are right. For a "
            'picture this does not matter. For the sentence "the risk is at most 0.09" it does.\n\n'
            "We never print a computed number as if it were exact. We print an *enclosure*: a lower and an upper end, and a proof that the truth lies between.",
            title="The trouble with rounding",
        ),
        Program(
            "total = sum(0.1 for _ in range(10))\nprint(total == 1, repr(total))\nprint((1e16 + 1) - 1e16)\n",
            "Both results are wrong, and neither comes with a warning.",
        ),
        Question(
            "c10-oracle",
            "We ask a library for the singular values of a matrix. The library gives no guarantee. Must we replace it by one that does?",
            (
                Choice(
                    "No: we check its answer afterwards.",
                    "Finding an answer is hard. Checking one is easy.",
                    right=True,
                ),
                Choice("Yes: wrong in, wrong out.", "Not if every answer is checked."),
                Choice(
                    "No: such libraries are never wrong.",
                    "They return nonsense without a word for very small and very large matrices.",
                ),
            ),
            "The library is an *oracle*: it may say what it likes. If its answer is poor, the check gives a wide interval, or refuses. It never gives a false one.",
        ),
        Say(
            "The oracle returns two sets of directions and a list of singular values. If the answer were perfect, three things would hold: the left directions are "
            "orthonormal, the right directions are orthonormal, and multiplying everything together gives the matrix back.\n\n"
            "The answer is never perfect. So we measure the three *defects*: how far the left directions are from orthonormal, how far the right ones, and how far the product is from the "
            "matrix. Each is a norm. The lemma below, due to Miyajima, says how far a true singular value can be from the reported one, given the three.",
            title="Measure the defects",
        ),
        Question(
            "c10-defects",
            "Suppose the library returns complete nonsense. What happens?",
            (
                Choice(
                    "The defects are large, and the interval becomes wide or is refused.",
                    "Wrong answers cost width, never truth.",
                    right=True,
                ),
                Choice("The interval is wrong.", "The theorem holds for *any* three factors."),
                Choice("The program cannot notice.", "It multiplies the factors together and compares."),
            ),
            "The theorem has no hypothesis about where the factors came from.",
        ),
        Result("Lemma 19 (upper)"),
        Steps("Lemma 19 (upper)", UPPER, only=("s1", "s2", "s5", "s6", "s7", "s8")),
        Result("Lemma 19 (lower)"),
        Steps("Lemma 19 (lower)", LOWER, only=("s8", "s10")),
        Say(
            "Now do it, for a matrix of size two and in exact arithmetic. The letters are those of the lemma. Norms are replaced by Frobenius norms, which are easier and never smaller.",
            title="The method in twenty lines",
        ),
        Program(
            "from fractions import Fraction\n"
            "from math import isqrt\n\n"
            "import numpy as np\n\n"
            "def exact(matrix):\n"
            "    return [[Fraction(float(x)) for x in row] for row in matrix]\n\n"
            "def product(a, b):\n"
            "    return [[sum(x * y for x, y in zip(r, c)) for c in zip(*b)] for r in a]\n\n"
            "def minus(a, b):\n"
            "    return [[x - y for x, y in zip(r, s)] for r, s in zip(a, b)]\n\n"
            "def root_above(x):\n"
            '    """A fraction that is at least the square root of x."""\n'
            "    return Fraction(isqrt(int(x * 10**60)) + 1, 10**30)\n\n"
            "def size(matrix):\n"
            "    return root_above(sum(x * x for row in matrix for x in row))\n\n"
            "A = [[2.0, 1.0], [1.0, 3.0]]\n"
            "U, s, Vt = np.linalg.svd(np.array(A))  # the oracle\n"
            "u, ut, v, vt = exact(U), exact(U.T), exact(Vt.T), exact(Vt)\n"
            "S, one = exact(np.diag(s)), exact(np.eye(2))\n\n"
            "f = size(minus(product(vt, v), one))  # defect of the right directions\n"
            "h = size(minus(product(ut, u), one))  # defect of the left directions\n"
            "e = size(minus(product(product(u, S), vt), exact(A)))\n"
            "if not (f < 1 and h < 1):\n"
            "    raise ArithmeticError('the directions are too poor to prove anything')\n"
            "for value in map(Fraction, map(float, s)):\n"
            "    upper = value * root_above((1 + f) * (1 + h)) + e\n"
            "    lower = value * (1 - f) * (1 - h) - e  # 1 - x <= sqrt(1 - x)\n"
            "    print('about', float(value), ' width', float(upper - lower))\n",
            "Everything after the oracle is exact arithmetic with fractions, so each interval from *lower* to *upper* is a proof. It is a few million-billionths wide. "
            "This is the whole method, for a matrix of size two.",
        ),
        Say(
            "Fractions are too slow for real matrices. Floating-point numbers are fast, but they round, so the defect that we measure with them is itself a little wrong. The way out: "
            "measure the defect, and add to it the most that rounding can have hidden.\n\n"
            "How much is that? Two facts about the machine are enough. One operation is off by at most half a unit of its last digit. And a long sum of products is off by at most a known "
            "multiple of the sum of the sizes of its terms, *in whatever order the library adds them up*. The order matters, because a fast library never tells it.\n\n"
            "These facts are the only assumptions about the machine. A self-test tries to catch a machine that breaks them, and they are written into every certificate.",
            title="From fractions to floats",
        ),
        Program(
            "import certify\n"
            "import numpy as np\n\n"
            "hilbert = np.array([[1 / (i + j + 1) for j in range(6)] for i in range(6)])\n"
            "values = certify.singular_values(hilbert)\n"
            "for lower, upper in zip(values.lower, values.upper):\n"
            "    box = certify.Enclosure.between(float(lower), float(upper))\n"
            "    print(box.lower_decimal(13), box.upper_decimal(13))  # rounded outward\n"
            "print(certify.effective_rank(hilbert, kind='stable'))\n",
            "The smallest singular values are ten million times smaller than the largest. Their intervals are wider, relative to their size, and they say so.",
        ),
        Question(
            "c10-compare",
            "Two enclosures overlap. Which of the two numbers is larger?",
            (
                Choice(
                    "This cannot be decided, and the program must not pretend to.",
                    "In our kernel the comparison raises an error.",
                    right=True,
                ),
                Choice("The one with the larger midpoint.", "The truth may lie anywhere in the interval."),
                Choice("They are equal.", "They may be equal. They need not be."),
            ),
            "An undecided comparison that quietly answers *False* is the most common way in which interval programs become wrong.",
        ),
        Say(
            "Attention matrices are kind: their entries are not negative. For such a matrix one positive vector gives an upper bound on the spectral norm (Collatz and Wielandt), by nothing "
            "more than multiplying and dividing. So the stable rank of an attention matrix is certified without any decomposition.\n\n"
            "At the end, intervals of singular values go into the formulas of this course. The formulas are evaluated in *balls*: each operation rounds outward. What is printed is "
            "rounded outward once more.",
            title="To the last digit",
        ),
    ),
    exercises=(
        Question(
            "c10-ex-round",
            "The upper end of a risk bound is 0.08231. It is printed with three decimals. What must be printed?",
            Number(lambda: sympy.Rational(83, 1000), "0.0000001", "An upper bound is rounded up."),
            "Up, to the next number with three decimals. Rounding to the nearest would print 0.082, which is not proved.",
        ),
        Question(
            "c10-ex-nan",
            'A guard reads: *if defect >= 1, refuse*. The defect is "not a number". What happens?',
            (
                Choice(
                    "The comparison is false, so the guard lets it through.",
                    "Guards must be written the other way: refuse unless the defect is below 1.",
                    right=True,
                ),
                Choice("The guard refuses.", "Every comparison with not-a-number is false."),
                Choice("Python raises an error.", "It does not."),
            ),
            "Write: *if not (defect < 1), refuse*. This closes the door to everything that is not proved.",
        ),
        Question(
            "c10-ex-width",
            "The library was sloppy, and its left directions have defect 0.01. By what share may the singular values be off for this reason alone, about?",
            (
                Choice("Half of one per cent.", "The defect enters under a root.", right=True),
                Choice(
                    "Ten per cent.",
                    "That is the root of the defect. The defect enters as the root of one plus itself.",
                ),
                Choice("Not at all.", "The defect always costs width."),
            ),
            "The root of 1.01 is about 1.005.",
        ),
    ),
    sources=(
        "S. Miyajima, Verified bounds for all the singular values of matrix, Japan J. Indust. Appl. Math. 31, 2014.",
        "S. M. Rump, Verified bounds for singular values, in particular for the spectral norm of a matrix and its inverse, BIT 51, 2011.",
        "N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2002.",
    ),
)
