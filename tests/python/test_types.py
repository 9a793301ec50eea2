"""The package has types, and mypy finds nothing wrong with them. It reads those of what the package uses."""

import subprocess
import sys

import helper

for module in ("mypy", "numpy", "torch", "ml_dtypes"):
    helper.require(module)
sys.exit(subprocess.run([sys.executable, "-m", "mypy"], cwd=helper.ROOT, check=False).returncode)
