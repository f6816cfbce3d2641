"""Chapter 8: the steps of the counterexamples."""

from __future__ import annotations

from proofs.lessons.figures import rank_of_the_class
from proofs.lessons.model import Asked, Note, Number, Question, choose

SHATTERING = {
    "s2": Note(
        choose(
            "c8-odd",
            "A cell of the table holds a number, and the head returns an output. We turn the sign of the number. What happens to the output?",
            ("It turns its sign and keeps its size.", "The hyperbolic tangent is an odd function."),
            (
                ("It becomes zero.", "That is the output for a cell with zero in it."),
                ("It stays the same.", "Then no label could be chosen."),
            ),
            "The two tokens trade their shares of attention. Their values are opposite, so the output is the opposite one.",
        )
    ),
    "s3": Note(
        choose(
            "c8-attain",
            "The signs are given. Which model of the class follows them best?",
            ("The one whose labels *are* the signs.", "It is in the class, because every pattern is."),
            (
                ("The one with the smallest norm.", "Norms play no role in this question."),
                ("There is none.", "The class realises every pattern, so this one too."),
            ),
            "Every pattern is realised, so the supremum follows every sign. Each term is as large as a term can be.",
        )
    ),
    "s4": Note(
        choose(
            "c8-no-sign-left",
            "Look at the right side before the average is taken. What is special about it?",
            ("No sign occurs in it.", "So the average over the signs does nothing."),
            (
                ("It is zero on average.", "Every term is positive."),
                ("It depends on the best model.", "The supremum is gone. The best model has been put in."),
            ),
            "For every pattern of signs the class reaches the same value. Its average is that value.",
        )
    ),
    "s5": Note(
        choose(
            "c8-no-m",
            "How does the complexity of this class change when the number of examples grows?",
            (
                "It does not change.",
                "There are as many equal terms as examples, and we divide by their number.",
            ),
            (
                (
                    "It falls like one over the root.",
                    "That is what the claim would need. Here nothing falls.",
                ),
                ("It grows.", "It stays below one."),
            ),
            "A class whose complexity does not fall has no bound that falls. And every attention matrix of the class has rank one.",
        )
    ),
}

NO_BOUND = {
    "s5": Note(
        choose(
            "c8-unseen",
            "There are at least twice as many contents as examples. What does the bad model do on contents it has not seen?",
            ("The opposite of the right label.", "It is in the class, so the claimed bound must cover it."),
            (
                ("It guesses.", "It is a fixed model. We choose it to be as bad as possible."),
                ("Nothing.", "It has an output for every input."),
            ),
            "Right on the sample, wrong elsewhere. Its attention matrices still have rank one.",
        )
    ),
    "s6": Note(Asked("hypothesis")),
    "s7": Note(
        Question(
            "c8-rank-one",
            "Every attention matrix of the class has equal rows. Which number may we put for its effective rank, whatever definition is meant?",
            Number(
                rank_of_the_class,
                "0.001",
                "A matrix with equal rows has a single singular value that is not zero.",
            ),
            "With one singular value, all definitions of {chapter:5} give the same number.",
        )
    ),
    "s8": Note(
        choose(
            "c8-claimed",
            "What is left of the claimed bound when the rank is one?",
            (
                "One over the root of the number of examples, times the constant and the logarithms.",
                "It goes to zero.",
            ),
            (
                ("Zero.", "It goes to zero, but it is not zero for any sample."),
                ("The root of the number of tokens.", "The number of tokens is not in the claim."),
            ),
            "With rank one under the root, the claim promises the best rate there is, for this whole class.",
        )
    ),
    "s9": Note(Asked("multiplier")),
    "s10": Note(
        choose(
            "c8-large-m",
            "The claim now says: half the root of {symbol:m} is at most a constant times a power of its logarithm. For which {symbol:m} can this hold?",
            ("For small ones only.", "A root outgrows every power of a logarithm."),
            (
                (
                    "For all, if the constant is large.",
                    "For every constant there is an {symbol:m} beyond which it fails.",
                ),
                ("For large ones only.", "It is the other way round."),
            ),
            "The constant and the power were fixed first. Then we take enough examples, and the claim is false.",
        )
    ),
}

EXCHANGE = {
    "s4": Note(Asked("multiplier")),
    "s5": Note(
        choose(
            "c8-both-norms",
            "Two numbers are compared here. What is the difference between them?",
            (
                "One fixes the parameter before the signs are averaged, the other chooses it after the signs are known.",
                "And that is where the naive argument breaks.",
            ),
            (
                ("One is for training, the other for new examples.", "Both are about the sample alone."),
                ("One uses the spectral norm, the other the rank.", "Both are norms of the same signed sum."),
            ),
            "For every single parameter the signed sum is of the order of a root. The largest one over the parameters is of the order of {symbol:m}.",
        )
    ),
}
