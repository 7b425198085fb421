"""The house rules that no linter knows."""

import ast
import importlib
import pkgutil
import re
import subprocess
from pathlib import Path

import nucleo

ROOT = Path(__file__).parents[2]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
FORBIDDEN = {"utils", "helpers", "common", "base", "manager", "misc", "core"}


def test_no_file_or_folder_is_named_for_a_pattern_instead_of_a_thing():
    assert [path for path in SOURCES if FORBIDDEN & {path.stem, *path.parts}] == []


def test_no_file_grows_over_four_hundred_lines_and_no_function_over_forty():
    long_files = {
        str(path.relative_to(ROOT)): n for path in SOURCES if (n := len(path.read_text("utf-8").splitlines())) > 400
    }
    assert long_files == {}
    long_functions = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                if body and (length := body[-1].end_lineno - body[0].lineno + 1) > 40:
                    long_functions.append((str(path.relative_to(ROOT)), node.name, length))
    assert long_functions == []


def test_every_module_imports_by_itself_and_says_what_it_is_for():
    for module in pkgutil.walk_packages(nucleo.__path__, "nucleo."):
        if module.name != "nucleo.__main__":
            assert importlib.import_module(module.name).__doc__, module.name


def test_public_names_are_complete_and_sorted():
    for module in pkgutil.walk_packages(nucleo.__path__, "nucleo."):
        if module.name == "nucleo.__main__" or not module.ispkg:
            continue
        names = getattr(importlib.import_module(module.name), "__all__", ())
        assert len(set(names)) == len(names)
        for name in names:
            assert getattr(importlib.import_module(module.name), name) is not None


def test_the_repository_speaks_of_itself_alone():
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    machine = re.compile(r"(^|[\s\"'(])/(?:work|root|home)/[a-z]|pypi\.org|files\.pythonhosted", re.MULTILINE)
    for name in filter(None, tracked.split("\0")):
        path = ROOT / name
        if (
            path.suffix in {".py", ".md", ".toml", ".txt", ".in", ".yml", ""}
            and path != Path(__file__)
            and path.exists()
        ):
            found = machine.search(path.read_text("utf-8", "replace"))
            assert not found, (name, found and found[0])
