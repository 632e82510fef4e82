"""Benchmarks: `python -m bench WHAT`; figures are ratios taken in one run, never tests."""
