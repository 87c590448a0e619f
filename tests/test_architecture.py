"""What keeps the house in order: read once, one name per thing, dependencies that point one way."""

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import comdiv

ROOT = Path(comdiv.__file__).parent
MODULES = {
    path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")
}
SCANNERS = {"tokens", "quantities", "clauses", "numbers", "digit_spans", "number_word_spans", "unit_of", "words"}
# A package may import from those before it, and from itself. Modules of the top folder that are not named come first.
ORDER = [
    "expression", "problem", "language", "reading", "solver", "corpora", "evaluation", "asking", "review", "splitting",
    "synthesis", "augmentation", "solvers", "exchange", "experiments", "verification", "verbs", "studio", "cli",
]  # fmt: skip
FOUNDATION = {"errors", "files", "claims", "loading", "registry", "settings", "observer"}


def package_of(module: str) -> str:
    return module.partition("/")[0].removesuffix(".py")


def nodes(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run: what stands under `if TYPE_CHECKING` does not."""
    pending: list[ast.AST] = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending += node.orelse
            continue
        yield node
        pending += ast.iter_child_nodes(node)


def imported(tree: ast.Module) -> Iterator[str]:
    for node in nodes(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("comdiv."):
            yield node.module.split(".")[1]


def test_nobody_but_reading_calls_a_languages_scanners() -> None:
    callers = [
        f"{module}: {ast.unparse(node)}"
        for module, tree in MODULES.items()
        if package_of(module) not in ("language", "reading")
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in SCANNERS
        and (ast.unparse(node.func.value).endswith("language") or "get_language(" in ast.unparse(node.func.value))
    ]
    assert callers == []


def test_dependencies_point_one_way() -> None:
    rank = {name: number for number, name in enumerate(ORDER)}
    upwards = [
        f"{module} imports {other}"
        for module, tree in MODULES.items()
        for other in imported(tree)
        if package_of(module) in rank and other in rank and rank[other] > rank[package_of(module)]
    ]
    assert upwards == []


def test_the_foundation_imports_nothing_of_the_house() -> None:
    for module, tree in MODULES.items():
        if package_of(module) in FOUNDATION:
            assert set(imported(tree)) <= FOUNDATION, module


def test_torch_is_imported_by_solvers_alone() -> None:
    importers = {
        module
        for module, tree in MODULES.items()
        for node in nodes(tree)
        if (isinstance(node, ast.Import) and any(name.name.partition(".")[0] == "torch" for name in node.names))
        or (isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "torch")
    }
    assert {package_of(module) for module in importers} == {"solvers"}


def test_a_module_and_a_class_have_their_name_alone() -> None:
    stems = Counter(
        Path(module).stem
        for module in MODULES
        if not module.endswith("__init__.py")
        and not module.startswith("language/")  # the folders of languages have the same files
    )
    classes = Counter(node.name for tree in MODULES.values() for node in tree.body if isinstance(node, ast.ClassDef))
    assert [name for name, count in stems.items() if count > 1] == []
    assert [name for name, count in classes.items() if count > 1] == []
