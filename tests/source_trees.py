"""The product's code as it is parsed, once for all tests of a process that look through it."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(path: Path) -> ast.Module:
    """The syntax tree of a file; it is shared, so nobody changes it."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """Every node of a file's tree, as `ast.walk` visits them."""
    return tuple(ast.walk(tree_of(path)))
