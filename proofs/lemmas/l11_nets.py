"""Lemma 11: nets of unit balls and of low-rank matrices."""

from __future__ import annotations

from proofs.build import Derivation


def derive_ball() -> Derivation:
    """(a) volumetric net."""
    d = Derivation(
        "lemma-11a",
        "Net of a unit ball",
        "The unit ball of any norm on R^D has an eta-net of at most (1 + 2/eta)^D points.",
        "Compare volumes.",
        {
            "logN": "real after: log of the number of points of a smallest net",
            "D": "count after: dimension",
            "eta": "positive after: resolution",
        },
        "logN <= D*log(1 + 2/eta)",
        hypotheses={"net": ("smallest_net_of_ball(logN, D, eta)", "logN is that number")},
        sources=("R. Vershynin, High-Dimensional Probability, Corollary 4.2.13",),
        domain="for comparison",
    )
    net = d.assume("net")
    d.paper(
        d.conclude,
        "Choose points of the ball as long as they stay eta apart. The balls of radius "
        "eta/2 around them are "
        "disjoint and lie in the ball of radius 1 + eta/2, so there are at most ((1 + "
        "eta/2)/(eta/2))^D of them; when no "
        "more can be chosen they are a net.",
        net,
    )
    return d


def derive_product() -> Derivation:
    """(b), first half: how far a product moves."""
    d = Derivation(
        "lemma-11b-product",
        "Net of low-rank matrices: how far the product moves",
        "If both factors have norm at most sqrt(s) and each is moved by at most eta sqrt(s), eta = "
        "eps/(2s), the product moves "
        "by at most eps.",
        "Change one factor at a time.",
        {
            "error": "real after: ||P Q^T - P1 Q1^T||",
            "dP": "nonnegative after: ||P - P1||",
            "dQ": "nonnegative after: ||Q - Q1||",
            "nQ": "nonnegative after: ||Q||",
            "nP": "nonnegative after: ||P1||",
            "s": "positive after: spectral norm of the matrix",
            "eps": "positive after: resolution",
        },
        "error <= eps",
        hypotheses={
            "triangle": ("error <= dP*nQ + nP*dQ", "P Q^T - P1 Q1^T = (P - P1) Q^T + P1 (Q - Q1)^T"),
            "left": ("dP <= eps/(2*s)*sqrt(s)", "P is near its net point"),
            "right": ("dQ <= eps/(2*s)*sqrt(s)", "Q is near its net point"),
            "normQ": ("nQ <= sqrt(s)", "Q = V Sigma^(1/2)"),
            "normP": ("nP <= sqrt(s)", "net points lie in the ball"),
        },
        sources=("E. J. Candes, Y. Plan, arXiv:1001.0339 (same idea for the Frobenius norm)",),
        domain="random products",
    )
    triangle, left, right, norm_q, norm_p = (
        d.assume(h) for h in ("triangle", "left", "right", "normQ", "normP")
    )
    first = d.monotone("dP*nQ <= (eps/(2*s)*sqrt(s))*sqrt(s)", "First factor moved.", left, norm_q)
    second = d.monotone("nP*dQ <= sqrt(s)*(eps/(2*s)*sqrt(s))", "Second factor moved.", norm_p, right)
    d.combine(
        d.conclude, "Each part is at most eps/2, so both together are at most eps.", triangle, first, second
    )
    return d


def derive_low_rank() -> Derivation:
    """(b), second half: how many points."""
    d = Derivation(
        "lemma-11b",
        "Net of low-rank matrices: how many points",
        "Matrices of rank at most r and spectral norm at most s have an eps-net, consisting of such "
        "matrices, of at most "
        "(1 + 4s/eps)^(r (d1 + d2)) points.",
        "A matrix of rank r is a product of two thin factors; each gets a net, and every pair of net "
        "points gives a point.",
        {
            "logN": "real after: log of the number of points",
            "logP": "real after: the same for the left factors",
            "logQ": "real after: the same for the right factors",
            "r": "count after: rank",
            "d1": "count after: rows",
            "d2": "count after: columns",
            "s": "positive after: spectral norm",
            "eps": "positive after: resolution",
        },
        "logN <= r*(d1 + d2)*log(1 + 4*s/eps)",
        hypotheses={
            "net": (
                "low_rank_net(logN, r, d1, d2, s, eps)",
                "logN belongs to the net made of pairs of factors",
            )
        },
        sources=("E. J. Candes, Y. Plan, arXiv:1001.0339 (same idea for the Frobenius norm)",),
        domain="sizes only",
    )
    net = d.assume("net")
    left = d.paper(
        "smallest_net_of_ball(logP, r*d1, eps/(2*s))",
        "The left factors U Sigma^(1/2) have "
        "spectral norm at most "
        "sqrt(s); a net of relative resolution eps/(2s) is enough, by the product rule "
        "(lemma-11b-product).",
        net,
    )
    right = d.paper(
        "smallest_net_of_ball(logQ, r*d2, eps/(2*s))", "The same for the right factors V Sigma^(1/2).", net
    )
    pairs = d.paper("logN == logP + logQ", "One point for every pair of net points.", net)
    first = d.lemma(
        "lemma-11a",
        {"logN": "logP", "D": "r*d1", "eta": "eps/(2*s)"},
        "logP <= r*d1*log(1 + 2/(eps/(2*s)))",
        "Lemma 11(a): the size of a net of the ball in which this factor lies.",
        left,
    )
    second = d.lemma(
        "lemma-11a",
        {"logN": "logQ", "D": "r*d2", "eta": "eps/(2*s)"},
        "logQ <= r*d2*log(1 + 2/(eps/(2*s)))",
        "Lemma 11(a): the size of a net of the ball in which this factor lies.",
        right,
    )
    d.combine(d.conclude, "2/(eps/(2s)) = 4s/eps, and the exponents add up.", pairs, first, second)
    return d


def derive_candes_plan() -> Derivation:
    """(c) Frobenius norm."""
    d = Derivation(
        "lemma-11c",
        "Net of low-rank matrices, Frobenius norm",
        "Matrices of rank at most r and Frobenius norm 1 have an eps-net of at most (9/eps)^((d1 + d2 + "
        "1) r) points.",
        "A cited theorem, for comparison.",
        {
            "logN": "real after: log of the number of points",
            "r": "count after: rank",
            "d1": "count after: rows",
            "d2": "count after: columns",
            "eps": "positive after: resolution below 1",
        },
        "logN <= (d1 + d2 + 1)*r*log(9/eps)",
        hypotheses={"net": ("smallest_frobenius_net(logN, r, d1, d2, eps)", "logN is that number")},
        sources=("E. J. Candes, Y. Plan, arXiv:1001.0339, Lemma 3.1",),
        domain="for comparison",
    )
    net = d.assume("net")
    d.cite(
        "candes-plan", {k: k for k in ("logN", "r", "d1", "d2", "eps")}, d.conclude, "Lemma 3.1 there.", net
    )
    return d


def derive_maurey() -> Derivation:
    """(d) Maurey's sparse net."""
    d = Derivation(
        "lemma-11d",
        "Maurey's net of the entrywise l1 ball",
        "Matrices whose absolute entries add up to at most b have a Frobenius eps-net of at most (2 d1 "
        "d2 + 1)^N points for every "
        "N >= b^2/eps^2.",
        "Draw N of the 2 d1 d2 + 1 atoms (plus or minus b times a unit matrix, or 0) with W as the mean.",
        {
            "w": "point dummy: the N draws",
            "err": "nonnegative after: err(w) = Frobenius distance of the mean of the draws from W",
            "b": "positive after: l1 radius",
            "eps": "positive after: resolution",
            "N": "positive after: number of draws",
            "best": "nonnegative after: distance of the nearest mean of N atoms",
        },
        "best <= eps",
        hypotheses={
            "draws": ("b**2/eps**2 <= N", "N is large enough"),
            "best": ("best <= E(w, err(w))", "the nearest mean is at most as far as the average one"),
        },
        sources=("G. Pisier, Remarques sur un resultat non publie de B. Maurey, 1981",),
        domain="small matrices",
    )
    draws, best = d.assume("draws"), d.assume("best")
    variance = d.paper(
        "E(w, err(w)**2) <= b**2/N",
        "Independent draws with mean W: the squared errors add up, each atom has squared length at most b^2.",
    )
    root = d.axiom(
        "average-below-root-mean-square",
        {"X": "lambda w: err(w)", "w": "w"},
        "E(w, err(w)) <= sqrt(E(w, err(w)**2))",
        "An average is at most the root of the average square (Jensen).",
    )
    rooted = d.monotone(
        "sqrt(E(w, err(w)**2)) <= sqrt(b**2/N)",
        "Take roots on both sides: the root is an increasing function.",
        variance,
    )
    small = d.combine("b**2/N <= eps**2", "N is large enough.", draws, times=["eps**2/N"])
    final = d.monotone(
        "sqrt(b**2/N) <= sqrt(eps**2)", "Take roots on both sides: the root is an increasing function.", small
    )
    d.combine(
        d.conclude,
        "Put the lines together: what bounds one quantity is bounded by the next.",
        best,
        root,
        rooted,
        final,
    )
    return d


DERIVATIONS = (derive_ball, derive_product, derive_low_rank, derive_candes_plan, derive_maurey)
