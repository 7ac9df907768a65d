"""Expressions and exporters."""
