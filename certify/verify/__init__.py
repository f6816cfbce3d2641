"""The second checkers: reports and certificates are checked again by code that imports nothing else of ours.

Read in this order. Of a report: ``interval`` (outward arithmetic), ``formula`` (prefix text), ``spectra``
(norms and effective ranks), ``structure`` and ``digests`` (what a report looks like), ``theorems`` (the
bounds it may claim), ``matrices``, ``attention``, ``bounds`` (the checks) and ``report`` (all of them); with
the model also ``enclose`` and ``model``; of a risk in it ``risk_theorems``, ``risk_record`` and
``risk_files``. Of a certificate: ``certificate``, ``sample`` and ``codeword``
(reading), ``counting``, ``noise`` and ``tails`` (errors, complexity, bound) and ``risk`` (all of it); with
its base also ``update``.

The modules import only each other, the standard library and mpmath; numpy, scipy and torch only where a model
or a sample is read. The folder works wherever it is copied: ``python -m verify report.json``. The arithmetic
repeats that of ``certify/kernel`` and ``certify/codec`` on purpose: a shared helper would share its bugs.
"""
