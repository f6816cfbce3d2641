"""The mathematics: definitions, lemmas, theorems and counterexamples as objects that a small kernel checks."""
