"""Lemma 6: Khintchine-Kahane with the best constant sqrt(2)."""

from __future__ import annotations

from proofs.build import Derivation

_LAPLACE = "(N*g(x) - sum(j, g(flip(x, j))))/2"


def _state_kahane() -> Derivation:
    """What is to be proved."""
    return Derivation(
        "lemma-6",
        "Khintchine-Kahane inequality",
        "For g(x) = || x_1 v_1 + ... + x_N v_N || with random signs x, the root mean square of g is at "
        "most sqrt(2) times "
        "its mean.",
        "g is even, and flipping one sign at a time changes it in a controlled way.",
        {
            "g": "nonnegative after: the norm of the signed sum",
            "flip": "real after: flip(x, j) is x with sign j turned",
            "N": "count after: number of signs",
            "x": "signs dummy: independent signs",
            "j": "point dummy: one of the signs",
        },
        "sqrt(E(x, g(x)**2)) <= sqrt(2)*E(x, g(x))",
        sources=(
            "S. Szarek, On the best constants in the Khinchin inequality, 1976",
            "R. Latala, K. Oleszkiewicz, On the best constant in the Khinchin-Kahane inequality, 1994",
        ),
        domain="up to 12 signs, rational vectors, all signs enumerated; equality at v = (1, 1)",
    )


def derive_kahane() -> Derivation:
    """In any normed space."""
    d = _state_kahane()
    triangle = d.paper(
        "(N - 2)*g(x) <= sum(j, g(flip(x, j)))",
        "The N turned sums add up to N - 2 times the sum: each v_j keeps its sign in N - "
        "1 of them and "
        "turns in one. Use the triangle inequality.",
    )
    laplace = d.combine(
        f"{_LAPLACE} <= g(x)",
        "Take the turned values to the left and halve: N - (N - 2) is 2.",
        triangle,
        times=["1/2"],
    )
    weighted = d.combine(
        f"g(x)*{_LAPLACE} <= g(x)**2", "Multiply by g, which is not negative.", laplace, times=["g(x)"]
    )
    averaged = d.monotone(
        f"E(x, g(x)*{_LAPLACE}) <= E(x, g(x)**2)",
        "It holds for every value, so it holds on average.",
        weighted,
    )
    walsh = d.paper(
        f"2*(E(x, g(x)**2) - E(x, g(x))**2) <= E(x, g(x)*{_LAPLACE})",
        "Expand g in products of signs (Walsh functions): the left operator multiplies the "
        "part of degree k by "
        "k. g is even, so only even degrees occur; all but degree 0 are at least 2, and "
        "degree 0 is the mean.",
    )
    square = d.combine(
        "E(x, g(x)**2) <= 2*E(x, g(x))**2",
        "With A the mean square and B the squared mean: 2(A - B) <= A, so A <= 2B.",
        walsh,
        averaged,
    )
    root = d.monotone(
        "sqrt(E(x, g(x)**2)) <= sqrt(2*E(x, g(x))**2)",
        "Take roots on both sides: the root is an increasing function.",
        square,
    )
    d.combine(d.conclude, "The root of a product: sqrt(2 a^2) = sqrt(2) a for a >= 0.", root)
    return d


def derive() -> Derivation:
    """For the length of a vector."""
    d = Derivation(
        "lemma-6-vector",
        "Khintchine's inequality, constant sqrt(2)",
        "The length of a vector is at most sqrt(2) times the average modulus of its signed coordinate sum.",
        "Lemma 6 with real numbers as the normed space.",
        {
            "a": "real after: a(j) is coordinate j",
            "N": "count after: number of coordinates",
            "flip": "real after: turns one sign",
            "x": "signs dummy: independent signs",
            "j": "point dummy: a coordinate",
        },
        "sqrt(sum(j, a(j)**2)) <= sqrt(2)*E(x, abs(sum(j, x(j)*a(j))))",
        sources=("S. Szarek 1976",),
        domain="up to 12 coordinates, all signs enumerated; equality at (1, 1)",
    )
    kahane = d.lemma(
        "lemma-6",
        {
            "g": "lambda x: abs(sum(j, x(j)*a(j)))",
            "N": "N",
            "x": "x",
            "j": "j",
            "flip": "lambda x, j: flip(x, j)",
        },
        "sqrt(E(x, abs(sum(j, x(j)*a(j)))**2)) <= sqrt(2)*E(x, abs(sum(j, x(j)*a(j))))",
        "Lemma 6 for plain numbers, whose norm is the modulus.",
    )
    square = d.paper(
        "E(x, abs(sum(j, x(j)*a(j)))**2) == sum(j, a(j)**2)",
        "Independent signs: mixed products average to 0, squares to 1.",
    )
    root = d.monotone(
        "sqrt(E(x, abs(sum(j, x(j)*a(j)))**2)) == sqrt(sum(j, a(j)**2))",
        "Take roots on both sides: the root is an increasing function.",
        square,
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        kahane,
        root,
        times=["1", "-1"],
    )
    return d


DERIVATIONS = (derive_kahane, derive)
