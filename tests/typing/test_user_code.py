"""What both type checkers say of a user's code: errors where they belong, and nowhere else.

Each line that must be an error says so by ignoring it, and both report an ignored error that is none: a checker that
saw nothing would fail here too.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).with_name("user_code.py")
ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def needs_the_checkers():
    pytest.importorskip("mypy")
    pytest.importorskip("pyright")


def checked(*command):
    done = subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=ROOT, check=False)
    return done.returncode, done.stdout + done.stderr


def with_mypy(page, cache):
    # A file apart from the project's own settings: a user has none of them.
    return checked("mypy", "--strict", "--config-file", os.devnull, "--cache-dir", str(cache), str(page))


def with_pyright(page, folder):
    # A copy, because pyright reads no file from outside the folder of its settings, and says so with success.
    (folder / "user_code.py").write_text(page.read_text("utf-8"), "utf-8")
    settings = {
        "include": ["user_code.py"],
        "typeCheckingMode": "strict",
        "enableTypeIgnoreComments": False,
        "reportUnnecessaryTypeIgnoreComment": True,
        "reportUnusedExpression": False,
        "pythonVersion": "3.11",
    }
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps(settings), "utf-8")
    return checked("pyright", "--pythonpath", sys.executable, "-p", str(project))


def test_mypy_finds_exactly_the_errors_of_a_users_code(tmp_path):
    code, said = with_mypy(PAGE, tmp_path / "cache")
    assert code == 0, said


def test_pyright_finds_exactly_the_errors_of_a_users_code(tmp_path):
    code, said = with_pyright(PAGE, tmp_path)
    assert code == 0, said
    assert "No source files found" not in said
