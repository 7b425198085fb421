"""One thing for all tests: properties try the same examples in every run of CI, so that it fails for a change only."""

import os

from hypothesis import settings

settings.register_profile("ci", derandomize=True, deadline=None)
if os.environ.get("CI"):
    settings.load_profile("ci")
