"""What docs/python.md shows is what Python prints, and the examples do what they say."""

import helper

helper.require("numpy")

import doctest  # noqa: E402
import importlib.util  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
import subprocess  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import unittest  # noqa: E402

HAS_TORCH = importlib.util.find_spec("torch") is not None
EXAMPLES = helper.ROOT / "examples/python"


def examples(page):
    """The blocks of Python as one text: fences are blank lines; without torch, so are its blocks."""
    lines, inside = [], False
    for line in page.splitlines():
        if line.startswith("```"):
            inside = not inside and (line == "```python" or (line == "```python torch" and HAS_TORCH))
            line = ""
        lines.append(line if inside else "")
    return "\n".join(lines)


class Documents(unittest.TestCase):
    def test_snippets_print_what_stands_below_them(self):
        page = (helper.ROOT / "docs/python.md").read_text()
        if not HAS_TORCH:
            print("SKIPPED: this Python has no torch: the snippets of PyTorch are not run")
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(helper.ROOT / "examples", os.path.join(folder, "examples"))
            before = os.getcwd()
            os.chdir(folder)
            try:
                test = doctest.DocTestParser().get_doctest(examples(page), {}, "python.md", "python.md", 0)
                self.assertGreater(len(test.examples), 10)
                runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
                said = []
                runner.run(test, out=said.append)
                self.assertEqual(runner.failures, 0, "".join(said))
            finally:
                os.chdir(before)

    def run_example(self, *arguments):
        done = subprocess.run([sys.executable, *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_digits_are_read(self):
        program = EXAMPLES / "digits.py"
        said = self.run_example(program)
        accuracy = float(re.search(r"([0-9.]+) %", said).group(1))
        self.assertGreaterEqual(accuracy, 97)
        code = [x for x in program.read_text().splitlines() if x and not x.startswith(('"""', "import"))]
        self.assertLessEqual(len(code), 20)

    def test_the_variant_learns_as_eager_pytorch_does(self):
        if not HAS_TORCH:
            self.skipTest("this Python has no torch")
        ours = self.run_example(EXAMPLES / "variant.py", "--steps", "6")
        self.assertRegex(ours, r"step   5  loss [0-4]\.")
        mine, other = (
            [float(x) for x in re.findall(r"loss ([0-9.]+)", said)]
            for said in (ours, self.run_example(EXAMPLES / "variant.py", "--steps", "6", "--eager")))
        for a, b in zip(mine, other):
            self.assertAlmostEqual(a, b, delta=1e-3)


if __name__ == "__main__":
    helper.main()
