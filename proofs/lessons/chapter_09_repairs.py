"""Chapter 9: the repairs that hold."""

from __future__ import annotations

import sympy

from proofs.lessons.figures import bound_of, quantise_figure
from proofs.lessons.model import Chapter, Choice, Live, Number, Question, Result, Say, Steps
from proofs.lessons.steps.repairs import BITS, PEELING

CHAPTER = Chapter(
    number=9,
    slug="repairs",
    title="The repairs: freeze, count dimensions, count bits, add noise",
    short="The repairs",
    goal="Four ways to make the idea true. Each one pays for what the rank did not see. Two of them give useful numbers for trained models.",
    items=(
        Say(
            "*Repair one: freeze the attention.* If the attention matrices do not depend on what is trained, they are fixed matrices, and {chapter:6} applies word for word. The "
            "effective rank of the attention matrices then does appear, next to their spectral norm.",
            title="Freeze",
        ),
        Result("A2"),
        Question(
            "c9-frozen",
            "When is this theorem the right one in practice?",
            (
                Choice(
                    "A pretrained model is kept as it is, and a linear read-out is trained on a fresh sample.",
                    "The attention was fixed before that sample.",
                    right=True,
                ),
                Choice("The whole model is fine-tuned.", "Then the attention matrices move with the sample."),
                Choice("The attention matrices happen to be similar on all inputs.", "Similar is not fixed."),
            ),
            "Frozen means: decided before the sample was drawn.",
        ),
        Say(
            "*Repair two: pay for the dimension.* The shattering class has one free number for each pair of query and content. So count free numbers: a matrix of rank "
            "{symbol:rank_scores} in dimension {symbol:d} has about twice their product. The norm then only enters through a logarithm, and everything may be measured "
            "after training.",
            title="Rank times dimension",
        ),
        Result("C2"),
        Question(
            "c9-c2-vs-n1",
            "Does N1 contradict this theorem?",
            (
                Choice(
                    "No: the theorem pays for rank times dimension, which is the number of labels that N1 fits.",
                    "So up to the logarithm the theorem cannot be improved.",
                    right=True,
                ),
                Choice(
                    "Yes: N1 has rank-one attention matrices.",
                    "This theorem counts the rank of the *weights*, times the dimension.",
                ),
                Choice("No, because N1 is artificial.", "A theorem must hold for artificial classes too."),
            ),
            "A good theorem and its counterexample meet at the same quantity.",
        ),
        Say(
            "*Repair three: count bits.* Compress the trained model: low rank, few bits for each number. Write it in a code that was agreed on before. If the compressed "
            "model still does well on the training examples, a short code is a proof of a small risk. No Lipschitz constant, no norm, any architecture. What is "
            "certified is the compressed model.",
            title="Bits",
        ),
        Result("D"),
        Steps("D", BITS),
        Say(
            "If the loss only says right or wrong, the errors of the compressed model are a count, and the exact tail of the binomial distribution takes the place of the relative entropy. The "
            "bound becomes a little smaller at no price. This is the form that a report prints for a compressed classifier."
        ),
        Result("D-binomial"),
        Live(
            "quantise",
            "How many bits for each weight?",
            "A small classifier with ten weights, and labels of which one in twenty is wrong. One bit for each weight makes errors. Twelve bits cost more than they bring. "
            "The certified bound has its best value in between. Fewer examples move the best value to the left. The true risk is known here, because all 1024 "
            "cases can be counted.",
            quantise_figure,
        ),
        Question(
            "c9-after",
            "We try twelve settings and keep the one with the best bound. Is the bound still valid?",
            (
                Choice(
                    "Yes: the number of bits is part of the code, and was paid for.",
                    "The theorem holds for all codewords at once.",
                    right=True,
                ),
                Choice(
                    "No: we looked at the sample.",
                    "The theorem allows it, because it holds for all models of the code at the same time.",
                ),
                Choice("Only for the last setting tried.", "For each of them."),
            ),
            "Paying for the choice is what makes a theorem hold after training.",
        ),
        Say(
            "*Repair four: add noise.* Disturb each weight by random noise. If the noisy model still does well, its exact weights carry little information. The price is the size of "
            "the update measured in units of the noise: the *stable rank of the weight update*, divided by the squared relative noise. This is the nearest true relative of the "
            "claim we began with: a maximum of effective ranks over the layers, under a root, over {symbol:m}.",
            title="Noise",
        ),
        Result("E"),
        Say(
            "The theorem speaks of the average over the noise. Who wants to ship *one* model draws the noise once, and keeps what was drawn. The next theorem is about this one model. No average "
            "is left in it, and nothing has to be estimated."
        ),
        Result("E-single"),
        Say("With equal noise in prior and posterior the price can be written as a rank."),
        Result("E-rank"),
        Question(
            "c9-e-rank",
            "Compare with the naive claim. Which three things had to be added?",
            (
                Choice(
                    "Rank of the weight *updates*, the number of layers, and a noise level at which the model still works.",
                    "With these the square-root law is a theorem, at any depth.",
                    right=True,
                ),
                Choice(
                    "A larger constant, a logarithm, and more data.", "N2 shows that these are not enough."
                ),
                Choice("Long sequences, many heads, and a small learning rate.", "None of these appears."),
            ),
            "The idea survives, with another matrix and an honest price.",
        ),
        Say(
            "One price remains. Norms and ranks are measured *after* training, while some theorems want a budget fixed before. *Peeling* lays a grid of budgets, gives each a share of the "
            "failure probability, and picks the right one afterwards. It costs a logarithm of a logarithm.",
            title='What "after training" costs',
        ),
        Result("P"),
        Steps("P", PEELING, only=("s12", "s14", "s15")),
        Say(
            "Every theorem with a budget has a *peeled* form, in which the budget is the measured norm, rounded up to the grid: {see:A1-peeled}, {see:B1-peeled}, {see:C1-vector-peeled}, and "
            "{see:C1-joint-peeled} with a grid for each of its norms. A report prints these, because it measures what is there."
        ),
    ),
    exercises=(
        Question(
            "c9-ex-d",
            "A compressed head takes 600 bits and errs on 2 per cent of 50,000 training examples. What does Theorem D promise with {symbol:delta} = 0.05? (three digits)",
            Number(
                lambda: bound_of(
                    "D", code_bits=600, emp_risk=sympy.Rational(1, 50), m=50000, delta=sympy.Rational(1, 20)
                ),
                "0.0006",
                "The allowed divergence is (600 log 2 + log 20)/50,000. Solve for the largest risk within it, or use `certify`.",
            ),
            "The allowed divergence is about 0.0084 nats. The largest risk within that divergence of 0.02 is a little above 0.04.",
        ),
        Question(
            "c9-ex-minimum",
            "A report has a bound on the 0-1 risk, one on the ramp risk, and one on the risk of the compressed model. May we print the smallest?",
            (
                Choice("No: they bound different things.", "They stand side by side.", right=True),
                Choice("Yes: all are valid.", "Valid for *their* quantity."),
                Choice(
                    "Yes, after dividing the failure probability by three.",
                    "That is the right price for several bounds on the *same* quantity.",
                ),
            ),
            "A minimum over different quantities is a bound on none of them.",
        ),
        Question(
            "c9-ex-best",
            "A trained, sharp head with few parameters. Which repair is likely to give the smallest number?",
            (
                Choice("Bits.", "Norm bounds suffer from sharp heads. Bits do not.", right=True),
                Choice("The Frobenius bound of {chapter:7}.", "A sharp head has a large norm."),
                Choice("Freezing.", "The head is trained, so it is not frozen."),
            ),
            "A sharp head has a large norm and few parameters. Try `certify demo` to see all bounds side by side.",
        ),
    ),
    sources=(
        "D. McAllester, PAC-Bayesian model averaging, COLT 1999; A. Maurer, A note on the PAC-Bayesian theorem, 2004.",
        "S. Lotfi et al., Non-vacuous generalization bounds for large language models, arXiv:2312.17173.",
        "W. Zhou et al., Non-vacuous generalization bounds at the ImageNet scale: a PAC-Bayesian compression approach, arXiv:1804.05862.",
    ),
)
