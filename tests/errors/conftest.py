"""Makes the specimens importable by name, in this process and in the workers of a process pool."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
