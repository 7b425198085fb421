"""``python -m nucleo``: the command line."""

import sys

from nucleo.cli.main import main

sys.exit(main())
