"""Soaks: what is promised in figures, each measured by one module. `python -m tests.soaks` lists them.

A soak is a module of this package with the size of its long form, `SIZE`, and

    async def run(folder: Path, size: int, tell: Tell) -> list[Figure]

which does its work in a folder of its own, tells how far it is, and returns what it has measured. The first line of its
docstring stands in the list; what the size counts stands in `COUNTS`. Its short form is a test beside it.
"""
