"""Certified numbers and honest bounds for attention models."""
