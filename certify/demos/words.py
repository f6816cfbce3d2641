"""The language of a word: a finite population, so that the true risk is computed, not estimated.

The population is fixed: of each of two languages the most frequent words of the `wordfreq` package that are
written in the joint alphabet with 3 to 20 letters and that the other language's list does not contain; each
of these (word, language) pairs is equally likely. A sample is m independent draws with replacement, and the
risk of a classifier is its error count over the whole population.

A word becomes one token for each of its letters: the one-hot codes of the letter before, the letter and the
letter after, and a constant 1. All of it is fixed before any sample is drawn: the embedding knows no label.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from certify.bounds.risk.heads import SoftmaxHead
from certify.bounds.risk.pac_bayes import GIBBS, draw_errors
from certify.bounds.risk.run import Heads, Plan, Progress, run_risk
from certify.bounds.risk.samples import PADDING, Sample
from certify.bounds.risk.table import Table, Truth
from certify.errors import DataError, InputError

ALPHABET = "abcdefghijklmnopqrstuvwxyzäöåąćęłńóśźż"
BOUNDARY = len(ALPHABET)
BLOCK = len(ALPHABET) + 1
DIMENSION = 3 * BLOCK + 1
TOKEN_NORM = 2  # each token has exactly four ones
SHORTEST, LONGEST = 3, 20
WORDS_PER_LANGUAGE, SAMPLES = 200_000, 200_000
LANGUAGES = ("fi", "pl")
NAMES = {"fi": "Finnish", "pl": "Polish"}
HEAD_FILE = "head.npz"  # the trained head, for `certify report` and `certify verify`
TOKEN_MAP = "letter before, letter, letter after, constant: one-hot blocks of 39, 39, 39 and 1"


@dataclass(frozen=True)
class Population:
    """All (word, language) pairs; ``sample`` holds them once each, in the order of the lists."""

    words: tuple[str, ...]
    sample: Sample

    def draw(self, m: int, seed: int) -> Sample:
        """m independent uniform draws, with replacement."""
        rows = np.random.default_rng(seed).integers(0, len(self.words), m)
        return self.sample.part(rows)


def tokens_of(words: list[str]) -> np.ndarray:
    """The tokens of each word, int16 (n, LONGEST, 4), padded with -1."""
    codes = np.full((len(words), LONGEST + 2), PADDING, dtype=np.int16)
    index = {letter: i for i, letter in enumerate(ALPHABET)}
    for row, word in enumerate(words):
        if not SHORTEST <= len(word) <= LONGEST or not set(word) <= set(ALPHABET):
            raise DataError(f"the word {word!r} is not {SHORTEST} to {LONGEST} letters of {ALPHABET}")
        codes[row, : len(word) + 2] = [BOUNDARY, *(index[letter] for letter in word), BOUNDARY]
    before, here, after = codes[:, :-2], codes[:, 1:-1], codes[:, 2:]
    constant = np.full_like(here, 3 * BLOCK)
    tokens = np.stack([before, here + BLOCK, after + 2 * BLOCK, constant], axis=2)
    tokens[after == PADDING] = PADDING
    return tokens


def _words(language: str) -> list[str]:
    try:
        import wordfreq
    except ImportError as error:
        raise InputError(
            "the word demonstration needs the package wordfreq: pip install 'certify-attention[demo]'"
        ) from error
    return list(wordfreq.top_n_list(language, 10**7))


def population(languages: tuple[str, str] = LANGUAGES, size: int = WORDS_PER_LANGUAGE) -> Population:
    """The population of two languages with at most ``size`` words each."""
    lists = [_words(language) for language in languages]
    known = [set(words) for words in lists]
    letters = set(ALPHABET)
    kept = []
    for own, words in enumerate(lists):
        fits = (
            w
            for w in words
            if SHORTEST <= len(w) <= LONGEST and set(w) <= letters and w not in known[1 - own]
        )
        kept.append([w for w, _ in zip(fits, range(size), strict=False)])
    words = kept[0] + kept[1]
    labels = np.repeat(np.arange(2), [len(k) for k in kept])
    return Population(tuple(words), Sample(tokens_of(words), labels, DIMENSION))


def truths(heads: Heads, population: Population, draws: int = 3) -> dict[str, Truth]:
    """Risks over the whole population: error counts for fixed heads, an estimate for noisy ones."""
    n = len(population.words)
    found = {}
    for name, head in heads.fixed().items():
        margins = head.margins(population.sample)
        upper = Fraction(margins.errors(), n)
        found[name] = Truth(
            f"exact: errors over all {n} words", upper - Fraction(margins.undecided(), n), upper
        )
    for noisy in heads.noisy:
        errors = draw_errors(noisy.posterior, heads.family, population.sample, draws, seed=0)
        mean = errors / (draws * n)
        slack = 3.3 * (mean * (1 - mean) / (draws * n)) ** 0.5
        text = f"estimate from {draws} noisy predictions of each of the {n} words, +- 3.3 standard errors"
        found[noisy.subject(GIBBS)] = Truth(text, Fraction(mean - slack), Fraction(mean + slack))
    return found


def run(out: Path, m: int, seed: int, progress: Progress) -> Table:
    """The demonstration: population, sample, heads, bounds, truth."""
    if m < 200:
        raise InputError(f"--samples {m}: the demonstration needs at least 200 words")
    progress("read the word lists")
    everything = population()
    sample, test = everything.draw(m, seed), everything.draw(max(200, m // 10), seed + 1)
    described = {
        "name": f"words: {' or '.join(NAMES[language] for language in LANGUAGES)}",
        "population": f"{len(everything.words)} (word, language) pairs, each equally likely",
        "tokens": TOKEN_MAP,
        "seed": seed,
    }

    def known(heads: Heads) -> dict[str, Truth]:
        progress("the truth: all words of the population")
        return truths(heads, everything)

    table, heads = run_risk(
        sample, out, Plan(progress=progress), test=test, truth=known, data=described, unit="word"
    )
    if isinstance(heads.trained, SoftmaxHead):
        np.savez(out / HEAD_FILE, scores=heads.trained.scores, values=heads.trained.values)
    return table
