# SPDX-License-Identifier: Apache-2.0
"""A small mutation harness: it runs every small wrong version of a module in-process against a check that must notice
it.

A mutant is one change of one node of the syntax tree. Its id says where and what, but no line number, so that it
survives edits elsewhere: `module.function: before -> after`, with `#2`, `#3` … for further equal ones.
"""

from __future__ import annotations

import ast
import copy
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FrameType, ModuleType
from typing import Any

Namespace = dict[str, Any]

COMPARED: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.LtE: (ast.Lt, ast.Gt, ast.GtE, ast.Eq, ast.NotEq),
    ast.Gt: (ast.GtE, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.GtE: (ast.Gt, ast.Lt, ast.LtE, ast.Eq, ast.NotEq),
    ast.Eq: (ast.NotEq, ast.LtE, ast.GtE),
    ast.NotEq: (ast.Eq, ast.Lt, ast.Gt),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Mult),
    ast.Mult: (ast.Div, ast.Add),
    ast.Div: (ast.Mult, ast.Sub),
    ast.FloorDiv: (ast.Div, ast.Mult),
    ast.Pow: (ast.Mult, ast.Add),
    ast.BitOr: (ast.BitAnd,),
    ast.BitAnd: (ast.BitOr,),
}
REPLACED = {"min": "max", "max": "min", "any": "all", "all": "any"}
UNWRAPPED = frozenset({"abs", "sorted", "exp", "log", "median", "sum", "fsum", "len", "frozenset", "list", "dict"})


@dataclass(frozen=True)
class Mutant:
    """One wrong version of a module."""

    id: str
    function: str
    tree: ast.Module


class StepLimitExceeded(BaseException):
    """The mutant ran for more lines than any terminating version does. No Exception, so that no mutant catches it."""


def _constant(value: object) -> list[bool | int | float | str]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1]
    if isinstance(value, str) and value:
        return [value + "!"]
    return []


def _expression(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the wrong versions of one expression; its parts stay as they are."""
    match node:
        case ast.Constant(value):
            for other in _constant(value):
                yield ast.Constant(other)
        case ast.Compare(left, ops, rest):
            for i, op in enumerate(ops):
                for kind in COMPARED[type(op)]:
                    yield ast.Compare(left, [*ops[:i], kind(), *ops[i + 1 :]], rest)
        case ast.BinOp(left, op, right):
            for arithmetic in ARITHMETIC.get(type(op), ()):
                yield ast.BinOp(left, arithmetic(), right)
            yield left
            yield right
        case ast.BoolOp(op, values):
            yield ast.BoolOp(ast.Or() if isinstance(op, ast.And) else ast.And(), values)
            for i in range(len(values)):
                kept = values[:i] + values[i + 1 :]
                yield kept[0] if len(kept) == 1 else ast.BoolOp(op, kept)
        case ast.UnaryOp(_, operand):
            yield operand
        case ast.IfExp(test, body, orelse):
            yield ast.IfExp(test, orelse, body)
            yield body
            yield orelse
        case ast.Call(ast.Name(name), args, keywords):
            if name in REPLACED:
                yield ast.Call(ast.Name(REPLACED[name], ast.Load()), args, keywords)
            if name in UNWRAPPED and len(args) == 1:
                yield args[0]
            yield from _calls(node)
        case ast.Call():
            yield from _calls(node)
        case ast.Subscript(value, ast.Slice() as part, ctx):
            yield value
            if part.lower is not None:
                yield ast.Subscript(value, ast.Slice(_next(part.lower), part.upper), ctx)
            if part.upper is not None:
                yield ast.Subscript(value, ast.Slice(part.lower, _next(part.upper)), ctx)
        case ast.Subscript(value, ast.Name() | ast.UnaryOp() | ast.BinOp() as index, ctx):
            yield ast.Subscript(value, _next(index), ctx)
        case ast.Tuple([first, second], ast.Load()):
            yield ast.Tuple([second, first], ast.Load())


def _next(index: ast.expr) -> ast.expr:
    return ast.BinOp(index, ast.Add(), ast.Constant(1))


def _calls(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the call with neighbouring arguments exchanged, and with each keyword left out."""
    commutes = isinstance(node.func, ast.Name) and node.func.id in REPLACED
    for i in range(0 if commutes else len(node.args) - 1):
        swapped = [*node.args[:i], node.args[i + 1], node.args[i], *node.args[i + 2 :]]
        yield ast.Call(node.func, swapped, node.keywords)
    for i in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, node.keywords[:i] + node.keywords[i + 1 :])


def _statement(node: ast.stmt) -> Iterator[ast.stmt]:
    """Yield the wrong versions of one statement; its expressions stay as they are."""
    match node:
        case ast.Return(value) if value is not None and not (isinstance(value, ast.Constant) and value.value is None):
            yield ast.Return(ast.Constant(None))
        case ast.If(test, body, orelse):
            yield ast.If(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.If(ast.Constant(True), body, orelse)
            yield ast.If(ast.Constant(False), body, orelse)
        case ast.While(test, body, orelse):
            yield ast.While(ast.UnaryOp(ast.Not(), test), body, orelse)
            yield ast.While(ast.Constant(False), body, orelse)
        case ast.AugAssign(target, op, value):
            for kind in ARITHMETIC.get(type(op), ()):
                yield ast.AugAssign(target, kind(), value)
            yield ast.Pass()
        case ast.Assign() | ast.Raise() | ast.Expr():
            yield ast.Pass()


def _skipped(parent: ast.AST, name: str, node: ast.AST) -> bool:
    """Say whether the node is not executable code: an annotation, a docstring, an import."""
    text = node.value if isinstance(node, ast.Expr) else None
    return (
        name in ("annotation", "returns")
        or (isinstance(text, ast.Constant) and isinstance(text.value, str))
        or isinstance(node, ast.Import | ast.ImportFrom | ast.JoinedStr)
        or (name == "name" and isinstance(parent, ast.FunctionDef))
    )


def _places(tree: ast.Module) -> Iterator[tuple[str, list[tuple[str, int | None]], ast.AST]]:
    """Yield (function, path from the root, node) for every node that may be changed."""

    def walk(node: ast.AST, where: str, path: list[tuple[str, int | None]]) -> Iterator[Any]:
        for name, value in ast.iter_fields(node):
            for i, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if not isinstance(child, ast.AST) or _skipped(node, name, child):
                    continue
                inner = where
                if isinstance(child, ast.FunctionDef | ast.ClassDef):
                    # A nested function belongs to the public one around it.
                    inner = child.name if where == "<module>" else where
                here = [*path, (name, i)]
                yield inner, here, child
                yield from walk(child, inner, here)

    yield from walk(tree, "<module>", [])


def _replaced(tree: ast.Module, path: list[tuple[str, int | None]], new: ast.AST) -> ast.Module:
    """A copy of the tree with the node at `path` replaced; only the nodes on the path are copied."""
    root = copy.copy(tree)
    node: Any = root
    for depth, (name, i) in enumerate(path):
        last = depth == len(path) - 1
        value = getattr(node, name)
        child = new if last else copy.copy(value if i is None else value[i])
        setattr(node, name, child if i is None else [*value[:i], child, *value[i + 1 :]])
        node = child
    return root


def mutants(source: str, module: str) -> Iterator[Mutant]:
    """Yield every mutant of a module's source; the ids begin with `module`."""
    tree = ast.parse(source)
    seen: dict[str, int] = {}
    for function, path, node in _places(tree):
        if isinstance(node, ast.expr):
            versions: Iterator[ast.AST] = _expression(node)
        elif isinstance(node, ast.stmt):
            versions = _statement(node)
        elif isinstance(node, ast.comprehension) and node.ifs:
            versions = iter([ast.comprehension(node.target, node.iter, [], node.is_async)])
        else:
            continue
        for version in versions:
            if ast.unparse(version) == ast.unparse(node):
                continue
            name = f"{module}.{function}: {_brief(node)} -> {_brief(version)}"
            seen[name] = seen.get(name, 0) + 1
            changed = _replaced(tree, path, version)
            yield Mutant(name if seen[name] == 1 else f"{name} #{seen[name]}", function, changed)


def _brief(node: ast.AST) -> str:
    """A node as one line; of a compound statement only its head, because a mutant changes nothing else of it."""
    return ast.unparse(node).split("\n", 1)[0].strip() or "pass"


def execute(tree: ast.Module, like: ModuleType, filename: str) -> Namespace:
    """Run the tree as a module instead of `like`, which is not changed; return its namespace."""
    # dataclasses looks the name up in sys.modules, so it must be one that exists there.
    namespace: Namespace = {"__name__": like.__name__}
    exec(compile(ast.fix_missing_locations(tree), filename, "exec"), namespace)
    return namespace


def steps(check: Callable[[], object], filename: str, limit: int | None = None) -> int:
    """Run the check; return how many lines of code compiled as `filename` it ran. StepLimitExceeded beyond `limit`."""
    count = 0

    def local(_frame: FrameType, event: str, _arg: object) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            if limit is not None and count > limit:
                raise StepLimitExceeded
        return local

    def enter(frame: FrameType, _event: str, _arg: object) -> Any:
        return local if frame.f_code.co_filename == filename else None

    before = sys.gettrace()
    sys.settrace(enter)
    try:
        check()
    finally:
        sys.settrace(before)
    return count


def survivors(module: ModuleType, check: Callable[[Namespace], object], patience: int = 5) -> tuple[list[Mutant], int]:
    """The mutants of a module that the check does not notice, and the number of all mutants.

    A mutant is noticed by any exception, or by running more than `patience` times the lines that the module itself runs
    (an endless loop).
    """
    source = inspect.getsource(module)
    short = module.__name__.rpartition(".")[2]
    sound = ast.parse(source)
    limit = patience * steps(lambda: check(execute(sound, module, "<sound>")), "<sound>")
    alive, total = [], 0
    for mutant in mutants(source, short):
        total += 1
        if not _killed(mutant, module, check, limit):
            alive.append(mutant)
    return alive, total


def _killed(mutant: Mutant, module: ModuleType, check: Callable[[Namespace], object], limit: int) -> bool:
    try:
        steps(lambda: check(execute(mutant.tree, module, "<mutant>")), "<mutant>", limit)
    except (Exception, StepLimitExceeded):
        return True
    return False
