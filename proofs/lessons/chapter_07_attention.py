"""Chapter 7: the theorem for a softmax head, assembled constant by constant."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import bound_figure, bound_of, softmax_figure
from proofs.lessons.model import Chapter, Choice, Live, Number, Question, Result, Say, Steps
from proofs.lessons.steps.attention import COMPLEXITY, OSCILLATION, READ_OUT, THEOREM

CHAPTER = Chapter(
    number=7,
    slug="attention",
    title="A softmax head: the theorem, constant by constant",
    short="The theorem",
    goal="We put the pieces together. The result is a bound on the gap of an attention head whose query-key matrix is trained, with every "
    "constant explicit and every number on the right measurable.",
    items=(
        Say(
            "One attention head, one query. Each token gets a *score*: the query, times the trained matrix, times the token. *Softmax* turns the scores "
            "into weights that are positive and add up to one. The head returns the weighted average of the tokens' *values*.\n\n"
            "The trained matrix sits inside the softmax. Everything else is fixed *before* the sample is drawn: tokens, values, the loss, the layers above. "
            "This is the *standing hypothesis*. It is not a formality, as we shall see.",
            title="The head",
        ),
        Question(
            "c7-standing",
            'Suppose the value table was trained on the same sample, and then only the query-key matrix is called "trained". What goes wrong?',
            (
                Choice(
                    "The values already know the answers, and no bound on the query-key matrix can see it.",
                    "The bound is printed as small, and the true gap is large.",
                    right=True,
                ),
                Choice(
                    "Nothing: the theorem only speaks about the query-key matrix.",
                    "It speaks about it *given* that the rest does not depend on the sample.",
                ),
                Choice("The softmax is no longer Lipschitz.", "It is, always."),
            ),
            "The hypothesis is about time: fixed before the sample. A table of values fitted to the sample passes every test of shape and breaks the theorem.",
        ),
        Say(
            "How far can softmax move when the scores move? Only *differences* of scores matter: adding the same number to all scores changes nothing. So "
            "the right measure of a change is its *oscillation*, the largest entry minus the smallest.",
            title="Softmax does not stretch",
        ),
        Live(
            "softmax",
            "Move the scores, watch the weights",
            "The total movement of the weights never exceeds the bound of the lemma below. Two tokens with equal scores and a small opposite change come closest. "
            "A change that is the same for all tokens moves nothing.",
            softmax_figure,
        ),
        Result("Lemma 12(a) (osc)"),
        Steps("Lemma 12(a) (osc)", OSCILLATION, only=("s3", "s4", "s5", "s7")),
        Result("Lemma 12(c)"),
        Steps("Lemma 12(c)", READ_OUT, only=("s5", "s8", "s9")),
        Say(
            "Now assemble.\n\n"
            "- The gap is at most {constant:C1(i):symmetrization} times the complexity, plus the confidence part (chapters 2 and 3).\n"
            "- The loss of the softmax average is a Lipschitz map of the scores, with the constant {constant:C1(i):softmax read-out} times {symbol:L} times the "
            "oscillation of the values (this chapter).\n"
            "- Vector contraction removes the map at the price {constant:C1(i):vector contraction} ({chapter:4}).\n"
            "- What is left is linear in the trained matrix: an inner product with a signed sum of matrices ({chapter:6}).",
            title="Assembling the theorem",
        ),
        Result("C1(i)"),
        Say(
            "First the complexity of the class. This is where softmax, contraction and the Frobenius ball meet.",
        ),
        Result("Complexity of C1(i)"),
        Steps("Complexity of C1(i)", COMPLEXITY, only=("s5", "s6", "s7", "s12", "s15", "s17")),
        Say(
            "Now the theorem, in two moves: the complexity goes into the uniform deviation bound of {chapter:3}."
        ),
        Steps("C1(i)", THEOREM, only=("s7", "s12", "s14")),
        Question(
            "c7-where-is-r",
            "Where is the effective rank in this theorem?",
            (
                Choice(
                    "In the Frobenius budget: it is the spectral norm times the root of the stable rank of the trained *weights*.",
                    "Of the weights, not of the attention matrices. And never without the spectral norm.",
                    right=True,
                ),
                Choice("In the number of tokens.", "The tokens enter through the measured sum."),
                Choice("Nowhere: the theorem does not use it.", "Look at the hypothesis about the ball."),
            ),
            "This is the repaired form of the idea. The rank has moved from the attention matrix to the weight matrix, and brought its scale along.",
        ),
        Live(
            "bound",
            "The bound, with every constant on a switch",
            "Move the number of examples until the curve leaves the red zone. Then switch the constants off one by one: each one's price shows, and what is left "
            "is no bound any more. The green line is the price of luck alone.",
            bound_figure,
        ),
        Result("C1-vector"),
        Say(
            "Be honest about size. For a *sharp* head the Frobenius norm is large, hundreds or more, and this bound is vacuous unless there are very many "
            "examples. It holds, it has the right shape, and for trained models other theorems are better. Chapter 9 has them.",
        ),
    ),
    exercises=(
        Question(
            "c7-ex-value",
            "Compute the bound of C1(i) for {symbol:m} = 1,000,000, {symbol:delta} = 0.05, {symbol:L} = 1, {symbol:omega} = 2, and a measured sum of 4,000,000. "
            "(three digits)",
            Number(
                lambda: bound_of(
                    "C1(i)", m=10**6, delta=sympy.Rational(1, 20), L=1, omega=2, sum_sq_readout=4 * 10**6
                ),
                "0.0005",
                "The complexity is 2 times 2000 divided by twice a million. Double it, then add the confidence part.",
            ),
            "The complexity is 0.002. Twice that is 0.004. The confidence part adds about 0.0024.",
        ),
        Question(
            "c7-ex-four",
            "Four times as many examples, of the same kind. What happens to the bound?",
            (
                Choice(
                    "It halves.",
                    "The measured sum grows fourfold, its root doubles, and all is divided by four times the number.",
                    right=True,
                ),
                Choice("It is divided by four.", "The measured sum grows too."),
                Choice(
                    "It stays, because the sum grows.", "The sum grows like the number, its root more slowly."
                ),
            ),
            "The bound falls like one over the root of the number of examples.",
        ),
        Question(
            "c7-ex-shift",
            "We subtract the mean token from all tokens of a sequence before we measure. Is this allowed, and why?",
            (
                Choice(
                    "Yes: it shifts all scores of the sequence alike, and softmax does not see that.",
                    "And the measured sum becomes smaller.",
                    right=True,
                ),
                Choice(
                    "No: it changes the model.",
                    "It changes the scores by a common number, and the weights not at all.",
                ),
                Choice("Only for normalised tokens.", "It holds for all tokens."),
            ),
            "Any centre may be used, for each sequence its own.",
        ),
    ),
    sources=(
        "A. Maurer, arXiv:1605.00251 (vector contraction).",
        "B. Edelman, S. Goel, S. Kakade and C. Zhang, Inductive biases and variable creation in self-attention, arXiv:2110.10090 (norm bounds for attention).",
    ),
)
