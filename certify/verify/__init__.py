"""The second checkers: they re-check reports and certificates and import nothing else of this package."""
