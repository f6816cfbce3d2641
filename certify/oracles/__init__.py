"""Untrusted numerical routines. Whatever they return, a certificate can only get wider or be refused.

Nothing here is part of a proof, and nothing here imports the kernel.
"""
