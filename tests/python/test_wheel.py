"""The wheel of this build: the same bytes each time, and complete: installed away from the checkout, it
compiles and trains."""

import helper

helper.require("numpy")
helper.require("pip")

import os  # noqa: E402
import pathlib  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

BUILD = pathlib.Path(os.environ["ATTNC"]).parents[1]


def run(*command, **named):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **named)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout


def pip(*arguments):
    return run(sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", *arguments)


class Wheel(unittest.TestCase):
    def test_is_complete_and_the_same_each_time(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            for k in (1, 2):
                pip("wheel", helper.ROOT, "--no-deps", "--no-index", "--no-build-isolation", "-w",
                    folder / str(k), "--config-settings", f"build-dir={BUILD}")
            first, second = (next((folder / str(k)).iterdir()) for k in (1, 2))
            self.assertEqual(first.name, second.name)
            self.assertEqual(first.read_bytes(), second.read_bytes())
            pip("install", "--no-deps", "--no-index", "--target", folder / "site", first)
            environment = {k: v for k, v in os.environ.items() if k not in ("ATTNC", "ATTNC_CACHE_DIR")}
            environment |= {"PYTHONPATH": str(folder / "site"), "XDG_CACHE_HOME": str(folder / "cache")}
            said = run(sys.executable, helper.ROOT / "examples/python/digits.py", cwd=folder,
                       env=environment)
            self.assertRegex(said, r"accuracy on 359 held-out digits: 9[789]\.")
            where = run(sys.executable, "-c", "import attn._compile as c; print(c.compiler())",
                        cwd=folder, env=environment)
            self.assertEqual(where.strip(), str(folder / "site/attn/_compiler/bin/attnc"))
            self.assertTrue(list((folder / "cache/attnc/models").glob("*.so")))


if __name__ == "__main__":
    helper.main()
