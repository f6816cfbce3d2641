"""Chapter 11: reading a certified report."""

from __future__ import annotations

import sympy

from proofs.lessons.model import Chapter, Choice, Number, Program, Question, Result, Say

CHAPTER = Chapter(
    number=11,
    slug="report",
    title="Reading a certified report",
    short="Reading a report",
    goal="A report has numbers, theorems and conditions. We learn to read them in the right order, so that a bound is neither believed too much nor too little.",
    items=(
        Say(
            "Every line of a report is one of three things.\n\n"
            "- A *measured* number, printed as an interval that contains the truth.\n"
            "- A *bound*, computed from measured numbers by a theorem of this course.\n"
            "- A *reference value* that is no bound, and says so. The root of the attention rank over {symbol:m} is of this kind: it is printed because people look for it, beside the words "
            '"not a valid bound" and the name of the counterexample.',
            title="Three kinds of lines",
        ),
        Say(
            "Below each bound stand its hypotheses. Each is *met*, *assumed* or *violated*.\n\n"
            "- *Met*: the program checked it. For instance, a norm is below its budget.\n"
            "- *Assumed*: only you can know it. For instance, that the examples are independent, or that the backbone was fixed before the sample was drawn.\n"
            "- *Violated*: the program found that it fails. Then there is no bound, whatever the formula gives.",
            title="Hypotheses",
        ),
        Question(
            "c11-assumed",
            "Who is responsible for an *assumed* hypothesis?",
            (
                Choice(
                    "The person who quotes the bound.",
                    "The report lists it so that it can be judged.",
                    right=True,
                ),
                Choice("The program.", "The program cannot see how the data were collected."),
                Choice("Nobody: it is a technical condition.", "If it fails, the bound is not proved."),
            ),
            "A bound is a sentence that begins with *if*. The report prints the *if*.",
        ),
        Result("C1-vector-peeled"),
        Say(
            "This is the theorem behind the line for each attention head. Its measured sum comes from your text. The grid index comes from the Frobenius norm of the trained query-key matrix. The "
            "failure probability is yours to choose.\n\n"
            "For most pretrained heads the line says *vacuous*. That is not a fault of the program. It is what this theorem can say about such a head.",
        ),
        Question(
            "c11-vacuous",
            'Two reports on the same head: one says "vacuous", one prints the root of rank over {symbol:m}, which is 0.006. Which tells you more?',
            (
                Choice("The first: it is true.", "The second number is not a bound on anything.", right=True),
                Choice(
                    "The second: it is smaller.",
                    "Smaller and wrong. A class with this value can have a gap of one half.",
                ),
                Choice("Both are equally useful.", "One of them can mislead."),
            ),
            "A true statement without content is better than a precise statement that is false.",
        ),
        Say(
            "For a trained classifier the report shows all bounds side by side. Each row names its theorem.\n\n"
            "- {see:D-binomial}: the *compressed* head, by its bits.\n"
            "- {see:E} and {see:E-single}: the head with *noise*, on average, and one head drawn once.\n"
            "- {see:C1-joint-peeled}, {see:C2} and {see:C3}: the trained head *itself*, by its norms, by its rank and dimension, and by its margins.\n"
            "- {see:A1-scalar-peeled} and {see:B1-peeled}: the read-out over frozen features. With several outputs these are {see:A1-peeled} and {see:B2-peeled}.\n"
            "- {see:test-set}: the head itself, if you kept examples aside.\n\n"
            "Read three things in each row: *what* is bounded (this model, its compressed form, or a noisy one), *for which loss*, and *with which probability*.\n\n"
            "The headline picks the smallest bound, and pays for the picking: each bound that could have won gets only its share of the failure probability. It is a sentence that a colleague can "
            "act on.",
            title="Risk",
        ),
        Result("test-set-kl"),
        Program(
            "from certify.kernel.bound import evaluate\n"
            "from certify.kernel.enclosure import Enclosure\n"
            "from proofs.theorems import THEOREMS\n\n"
            "given = {'code_bits': 600, 'emp_risk': '0.02', 'm': 50000, 'delta': '0.05'}\n"
            "values = {name: Enclosure.exact(value) for name, value in given.items()}\n"
            "for name in ('D', 'D-hoeffding'):\n"
            "    bound = evaluate(THEOREMS[name].prefix, values)\n"
            "    print(name, bound.lower_decimal(6), 'to', bound.upper_decimal(6))\n",
            "The same prefix text that is printed on the theorem's card is evaluated here, in balls. The printed ends contain the exact value.",
        ),
        Question(
            "c11-verify",
            "A colleague sends you a report. How do you know that no digit was changed?",
            (
                Choice(
                    "Run `certify verify` on it.",
                    "It re-computes every derived number with code that shares nothing with the program that wrote the report.",
                    right=True,
                ),
                Choice("Trust the layout.", "Layout is easy to copy."),
                Choice(
                    "Run the report again.",
                    "That needs the model, the data and the same program, and it shares its mistakes.",
                ),
            ),
            "The second checker imports nothing of ours. With the model at hand it also re-checks the spectra.",
        ),
        Say(
            "You can now follow a bound from its last digit back to its axioms: the printed decimal, the ball, the prefix expression, the theorem, its lemmas, and for each step the level at "
            "which it is checked. If you find a link that does not hold, that is a discovery. Please tell us.",
            title="All the way back",
        ),
    ),
    exercises=(
        Question(
            "c11-ex-delta",
            "A report shows one bound for each of 72 heads, each with {symbol:delta} = 0.05, and you want all of them at the same time with 95 per cent confidence. Which {symbol:delta} should each "
            "have had? (four decimals)",
            Number(
                lambda: sympy.Rational(1, 20) / 72, "0.0001", "Share the failure probability over the heads."
            ),
            "0.05 divided by 72. The price is small, because the failure probability enters through a logarithm.",
        ),
        Question(
            "c11-ex-compressed",
            "The certificate is about the *compressed* model, and you ship the original. What do you know about the shipped model?",
            (
                Choice(
                    "Nothing from this certificate.",
                    "Ship the compressed model, or measure how often the two differ on fresh examples.",
                    right=True,
                ),
                Choice("The same bound.", "The two models may differ on new examples."),
                Choice("Half of the bound.", "There is no such rule."),
            ),
            "The theorem speaks of the model that the code describes.",
        ),
        Question(
            "c11-ex-shift",
            "Next year the incoming mails change their style. Does the certificate still hold?",
            (
                Choice(
                    "No: it is about examples drawn like the training examples.",
                    "Another source needs another sample.",
                    right=True,
                ),
                Choice(
                    "Yes, with the same probability.",
                    "The probability is over samples from the *same* source.",
                ),
                Choice(
                    "Yes, if the model is retrained.",
                    "Then it is another model, and it needs another certificate.",
                ),
            ),
            '"Same distribution" is the hypothesis that practice breaks most often.',
        ),
    ),
    sources=(
        "C. Clopper and E. Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial, Biometrika 26, 1934.",
        "J. Langford, Tutorial on Practical Prediction Theory for Classification, JMLR 6, 2005.",
    ),
)
