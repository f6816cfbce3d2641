"""The mathematics: lemmas, theorems and counterexamples as objects that a small kernel checks."""
