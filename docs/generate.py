"""Fill in what the pages say that their examples print. ``python docs/generate.py``; with ``--check``, only compare.

A page is written by hand. A block of Python in it runs, in the order of the page, and the block marked ``output``
that follows it holds what it printed. The transcript in the README is cut out of what ``nucleo demo`` prints.
"""

import contextlib
import io
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
BLOCK = re.compile(r"^```(python|output|text)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SHOWN_QUESTION = "Please look up ORD-1047"


def filled(page: Path) -> str:
    """Run the examples of a page and give the page with what they print."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    printed = ""

    def fill(match: re.Match[str]) -> str:
        nonlocal printed
        language, text = match[1], match[2]
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, str(page), "exec"), namespace)  # noqa: S102 - the page is ours
            printed = out.getvalue()
            return match[0]
        return f"```{language}\n{printed if language == 'output' else demo_excerpt()}```"

    return BLOCK.sub(fill, page.read_text(encoding="utf-8"))


def demo_excerpt() -> str:
    """Give the part of the demo's transcript that the README shows."""
    done = subprocess.run([sys.executable, "-m", "nucleo", "demo"], capture_output=True, text=True, check=True)
    paragraphs = done.stdout.split("\n\n")
    return next(part for part in paragraphs if SHOWN_QUESTION in part).strip("\n") + "\n"


def main() -> int:
    """Write the pages, or compare them."""
    stale = [page for page in PAGES if filled(page) != page.read_text(encoding="utf-8")]
    if "--check" in sys.argv[1:]:
        for page in stale:
            print(f"{page.relative_to(ROOT)} is out of date: run python docs/generate.py")
        return 1 if stale else 0
    for page in stale:
        page.write_text(filled(page), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
