"""Chapter 8: where the naive claim breaks."""

from __future__ import annotations

from proofs.lessons.figures import descent_figure, expected_gap, shattering_complexity, shattering_figure
from proofs.lessons.model import Chapter, Choice, Live, Number, Program, Question, Result, Say, Steps
from proofs.lessons.steps.breaks import EXCHANGE, NO_BOUND, SHATTERING

CHAPTER = Chapter(
    number=8,
    slug="breaks",
    title="Where the naive claim breaks",
    short="Where it breaks",
    goal="The claim: the gap falls like the root of the rank of the attention matrices divided by the number of examples. We build models whose attention matrices all have "
    "rank one and whose gap does not fall. First by hand, then by gradient descent.",
    items=(
        Say(
            "Let {symbol:R} stand for any effective rank you like, and take its largest value over all layers and all inputs. The claim says that, up to "
            "logarithms, the gap is at most the root of this rank over {symbol:m}.\n\n"
            "To refute it, one counterexample is enough. We give several, because each teaches something else.",
            title="The claim on trial",
        ),
        Result("N0"),
        Question(
            "c8-n0",
            "What does N0 show about *any* repair that keeps only the attention matrices?",
            (
                Choice(
                    "It must also look at the rest of the network.",
                    "With one token all attention matrices are equal to 1.",
                    right=True,
                ),
                Choice("Sequences must be long.", "Long sequences do not help: see N1, with two tokens."),
                Choice(
                    "Nothing: one-token sequences do not occur.",
                    "A theorem that fails on allowed inputs is false.",
                ),
            ),
            "The attention matrix cannot know what the other layers do.",
        ),
        Say(
            "N0 blames the rest of the network. So give the claim its best chance: *no* rest. One layer, one head, values fixed, only the query-key matrix trained. "
            "Two tokens in each sequence.\n\n"
            "Think of the trained matrix as a table of numbers. Each training input points to one cell of the table, and to no other cell. The number in the cell decides how "
            "the attention is shared between the two tokens: a large positive number sends all of it to the first token, a large negative number to the second. The "
            "first token has the value plus one, the second minus one. So the sign in the cell is the output.\n\n"
            "We may write what we like into each cell. So we can have any labels we like.\n\n"
            "And the rank? Both tokens ask the same question. So both rows of the attention matrix are equal, and a matrix with equal rows has rank one. Always.",
            title="Shattering at rank one",
        ),
        Question(
            "c8-rank-count",
            "All attention matrices have rank one. What does rank *not* count?",
            (
                Choice(
                    "How many *different* matrices the class can produce.",
                    "Each is small. There are exponentially many.",
                    right=True,
                ),
                Choice("How large each matrix is.", "It does say something about each single matrix."),
                Choice("The number of tokens.", "That is fixed at two here."),
            ),
            "Rank measures one matrix at a time. Capacity is about the whole collection.",
        ),
        Live(
            "shattering",
            "Choose any labels",
            "Each button is one training input with the label you want. Below it, the attention matrix of that input and the output of the head. Flip what you like, or "
            "take random labels. The fit is always perfect and every matrix has rank one. Below one scale the margin shrinks, but no label is ever missed.",
            shattering_figure,
        ),
        Result("N1"),
        Steps("N1", SHATTERING),
        Result("N1 (output)"),
        Program(
            "from itertools import product\n"
            "from math import tanh\n\n"
            "def output(weight):\n"
            '    """Value +1 at the first token, -1 at the second; their scores differ by `weight`."""\n'
            "    return tanh(weight / 2)\n\n"
            "beta, m = 6.0, 8\n"
            "total = 0.0\n"
            "for signs in product((-1, 1), repeat=m):\n"
            "    total += max(sum(s * output(beta * label) for s, label in zip(signs, labels)) / m\n"
            "                 for labels in product((-1, 1), repeat=m))\n"
            "print(round(total / 2**m, 6), round(tanh(beta / 2), 6))\n",
            "All patterns of eight signs against all 256 labelings. The complexity is as large as it can be, and does not fall with the number of examples.",
        ),
        Result("N2"),
        Steps("N2", NO_BOUND),
        Question(
            "c8-n2",
            "Could a large constant or a power of a logarithm save the claim?",
            (
                Choice(
                    "No: the gap stays above one half while the claimed bound goes to zero.",
                    "So it fails for every constant and every power of the logarithm.",
                    right=True,
                ),
                Choice("Yes, a constant of 100.", "Then take 100,000 times more examples and contents."),
                Choice(
                    "Yes, if it depends on the norm through a logarithm.",
                    "The norm here is only polynomial, so its logarithm is small. This is refuted too.",
                ),
            ),
            "Something that grows must appear: the norm of the weights as a power, or the dimension.",
        ),
        Say(
            '"But nobody trains an adversary." Fair. So train the honest way: start at zero, run gradient descent on a margin loss, on random labels. The gradient touches '
            "only contents that occur in the sample. The others keep their zero. The training error is zero after one step. On the contents that were never seen the model knows nothing.",
            title="Gradient descent does it too",
        ),
        Live(
            "descent",
            "What one step of gradient descent leaves behind",
            "Each cell is a content. Filled cells were seen in training and are now right. Empty cells kept weight zero. With ten times more contents than examples, nine in "
            "ten stay empty, and the gap stays near one half, whatever the number of examples.",
            descent_figure,
        ),
        Result("N3"),
        Result("N4"),
        Say(
            'Where exactly does the argument "contraction plus matrix concentration" stop?\n\n'
            "Fix the parameters first, and toss the signs afterwards. Then every attention matrix is a fixed matrix, the signs work against each other, and concentration says how small "
            "the signed sum is on average.\n\n"
            "Now do it the other way round. Toss first, and let the parameters be chosen afterwards. They can be chosen so that every term of the sum has the same direction. Nothing "
            "cancels any more, and the sum is large for every toss.\n\n"
            "The Rademacher complexity is the second number. Matrix concentration speaks of the first. If the attention matrices are frozen, there is nothing to choose, and the two are "
            "the same. If they are trained, they are worlds apart.",
            title="The exact spot",
        ),
        Result("N6'"),
        Steps("N6'", EXCHANGE),
        Question(
            "c8-spot",
            "Which exchange is not allowed?",
            (
                Choice(
                    "Average over signs and supremum over parameters.",
                    "The average of the largest is not the largest of the averages.",
                    right=True,
                ),
                Choice(
                    "Sum over examples and supremum over parameters.",
                    "That exchange goes the right way for an upper bound, but it is not what was done.",
                ),
                Choice("Softmax and matrix product.", "Nobody exchanges these."),
            ),
            "For each *single* parameter the signed sum is small. For each pattern of signs *some* parameter makes it large.",
        ),
    ),
    exercises=(
        Question(
            "c8-ex-tanh",
            "What is the Rademacher complexity of the shattering class at scale {symbol:beta} = 2? (three digits)",
            Number(
                lambda: shattering_complexity(2), "0.001", "It is the hyperbolic tangent of half the scale."
            ),
            "The hyperbolic tangent of 1.",
        ),
        Question(
            "c8-ex-gap",
            "Three contents, two training examples, gradient descent from zero. What is the expected gap? (three digits)",
            Number(
                lambda: expected_gap(3, 2),
                "0.001",
                "A content is missed twice with probability (2/3) squared. On a missed content the error is one half.",
            ),
            "One half times four ninths.",
        ),
        Question(
            "c8-ex-weights",
            "In the shattering class, what *does* grow with the number of labels that can be chosen?",
            (
                Choice(
                    "The Frobenius norm of the trained matrix.",
                    "One entry for each label. This is what Theorem C1(i) pays for.",
                    right=True,
                ),
                Choice("The spectral norm of the attention matrices.", "It stays bounded."),
                Choice("The norm of the tokens.", "It is the same for all."),
            ),
            "The theorem of {chapter:7} is not refuted by this class: its bound grows with the Frobenius norm, as it must.",
        ),
    ),
    sources=(
        "A. Dhingra, arXiv:2508.17256 (the claim; only the abstract was at hand, so the claim is judged here, not the paper's proof).",
        "C. Zhang, S. Bengio, M. Hardt, B. Recht and O. Vinyals, Understanding deep learning requires rethinking generalization, arXiv:1611.03530 (fitting random labels).",
    ),
)
