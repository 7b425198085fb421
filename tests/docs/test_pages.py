"""Every Python block of every page runs, and prints what the page says it prints."""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks_of(page):
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_examples_of_a_page_run_and_print_what_it_says(page):
    namespace = {"__name__": "__main__"}
    printed = None
    for language, text in blocks_of(page):
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(page), "exec"), namespace)  # noqa: S102 - the page is ours
            printed = out.getvalue()
        elif language == "output":
            assert printed == text
            printed = None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_links_of_a_page_lead_to_files_that_exist(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_readme_shows_what_the_demo_prints():
    shown = [text for language, text in blocks_of(ROOT / "README.md") if language == "text"]
    assert shown
    done = subprocess.run(
        [sys.executable, "-m", "nucleo", "demo"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for text in shown:
        assert text in done.stdout
