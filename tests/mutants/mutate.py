"""Small faults in a module's source, one at a time, as mutation testing knows them."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_PAIRS = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
    (ast.Add, ast.Sub),
    (ast.Mult, ast.Div),
    (ast.BitAnd, ast.BitOr),
)
_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    **{one: other for pair in _PAIRS for one, other in (pair, pair[::-1])},
    ast.FloorDiv: ast.Div,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
}
_ANNOTATIONS = ("annotation", "returns")


@dataclass(frozen=True)
class Fault:
    """The bytes from `start` to `end` of a source become `text`."""

    kind: str
    line: int
    start: int
    end: int
    text: str

    def in_source(self, source: bytes) -> bytes:
        """Return `source` with this fault."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def faults(source: bytes) -> list[Fault]:
    """Return all faults that fit `source`, in the order of its text."""
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found = []
    for node in _nodes(ast.parse(source)):
        for kind, at, becomes in _of_node(node):
            start = starts[at.lineno - 1] + at.col_offset
            end = starts[at.end_lineno - 1] + at.end_col_offset
            found.append(Fault(kind, at.lineno, start, end, becomes))
    return sorted(found, key=lambda fault: (fault.start, fault.end, fault.kind, fault.text))


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes that are executed: no types, no parts of f-strings."""
    yield node
    if isinstance(node, ast.JoinedStr):
        return
    for name, value in ast.iter_fields(node):
        if name not in _ANNOTATIONS:
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from _nodes(child)


def _of_node(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    match node:
        case ast.Compare(left, [operator], [right]) if type(operator) in _SWAPPED:
            swapped = ast.Compare(left, [_SWAPPED[type(operator)]()], [right])
            yield "comparison", node, _text(swapped)
        case ast.BinOp(left, operator, right) if type(operator) in _SWAPPED:
            if not _joins_paths(node):
                swapped = ast.BinOp(left, _SWAPPED[type(operator)](), right)
                yield "arithmetic", node, _text(swapped)
        case ast.AugAssign(target, operator, value) if type(operator) in _SWAPPED:
            swapped = ast.AugAssign(target, _SWAPPED[type(operator)](), value)
            yield "arithmetic", node, ast.unparse(swapped)
        case ast.BoolOp(operator, values):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "boolean", node, _text(ast.BoolOp(other, values))
        case ast.UnaryOp(ast.Not() | ast.USub(), operand):
            yield "sign", node, _text(operand)
        case ast.Constant(bool(value)):
            yield "boolean", node, str(not value)
        case ast.Constant(int(value) | float(value)):
            yield from (("constant", node, _text(ast.Constant(value + by))) for by in (1, -1))
        case ast.If(test) | ast.IfExp(test) | ast.While(test):
            yield "condition", test, f"(not {_text(test)})"
        case ast.comprehension(ifs=tests):
            yield from (("condition", test, f"(not {_text(test)})") for test in tests)
        case ast.Expr(ast.Call()):
            yield "call", node, "pass"
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield "return", node, "return None"
        case ast.Break():
            yield "loop", node, "continue"
        case ast.Continue():
            yield "loop", node, "break"
        case ast.Slice(lower, upper):
            bounds = [
                bound for bound in (lower, upper) if bound and not isinstance(bound, ast.Constant)
            ]
            yield from (("bound", bound, f"({_text(bound)} + 1)") for bound in bounds)
        case ast.Call(ast.Name("range"), [*_, stop]) if not isinstance(stop, ast.Constant):
            yield "bound", stop, f"({_text(stop)} - 1)"


def _text(node: ast.AST) -> str:
    return f"({ast.unparse(node)})"


def _joins_paths(node: ast.BinOp) -> bool:
    """Return whether a `/` has text on its right, and so divides nothing."""
    texts = (ast.JoinedStr, ast.Constant)
    return (
        isinstance(node.op, ast.Div)
        and isinstance(node.right, texts)
        and not isinstance(getattr(node.right, "value", ""), int | float)
    )
