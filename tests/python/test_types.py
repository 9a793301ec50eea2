"""The package has types, and mypy finds nothing wrong with them."""

import subprocess
import sys

import helper

helper.require("mypy")
sys.exit(subprocess.run([sys.executable, "-m", "mypy"], cwd=helper.ROOT, check=False).returncode)
