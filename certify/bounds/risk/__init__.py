"""Risk of a trained classifier: theorems D, E, C1 to C3, A and the test set, evaluated and put side by
side."""
