"""Between the Python objects and the proof assistant.

``claims``   what each theorem object claims, as a Coq file closed by the named theorems
``report``   a report's printed bounds as Coq theorems (``check_report``, ``report_goals``)
``axioms``   ``coqchk`` and ``Print Assumptions`` against the list of allowed axioms
``mutants``  changed constants and weakened hypotheses: each must be rejected
``record``   goals after each sentence, the table of theorems, the reference page
"""

from proofs.bridge.compiler import CoqMissing, available
from proofs.bridge.report import check_report, report_goals

__all__ = ["CoqMissing", "available", "check_report", "report_goals"]
