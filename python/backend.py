"""Builds the wheel: attnc and all that it needs, by CMake's install rules, below the Python sources. One
wheel serves every Python, for libraries are called through ctypes. Needs nothing but CMake and what
tools/setup.sh installs. The same sources give the same bytes wherever they are built.

A build that is there already is taken by `pip wheel . --config-settings build-dir=build`."""

import base64
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = re.search(r"project\(attn VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
INFO = f"attn-{VERSION}.dist-info"
TAG = "py3-none-linux_x86_64"

METADATA = f"""Metadata-Version: 2.1
Name: attn
Version: {VERSION}
Summary: Attention models from their formulas: compiled, with gradients, for NumPy and PyTorch
Requires-Python: >=3.9
Requires-Dist: numpy>=1.22
Provides-Extra: torch
Requires-Dist: torch>=2.4; extra == "torch"
Provides-Extra: bf16
Requires-Dist: ml_dtypes; extra == "bf16"
Description-Content-Type: text/markdown

{(ROOT / "docs/python.md").read_text()}"""

WHEEL = f"""Wheel-Version: 1.0
Generator: attn
Root-Is-Purelib: false
Tag: {TAG}
"""


def _build():
    build = ROOT / "build" / "wheel"
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    subprocess.run(["cmake", *generator, "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release",
                    "-DATTN_BUILD_TESTS=OFF", "-DATTN_BUILD_EXAMPLES=OFF", "-DATTN_INSTALL=ON"],
                   check=True)
    subprocess.run(["cmake", "--build", str(build), "--parallel", str(os.cpu_count()),
                    "--target", "attnc", "attn_rt"], check=True)
    return build


def _files(folder):
    return sorted(p for p in folder.rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def _digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def _write(path, contents):
    """Names, whether they are programs, and bytes; in order, of one date."""
    record = "".join(f"{name},sha256={_digest(data)},{len(data)}\n" for name, _, data in contents)
    record += f"{INFO}/RECORD,,\n"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, is_program, data in [*contents, (f"{INFO}/RECORD", False, record.encode())]:
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.create_system = 3
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)


def _metadata():
    return [(f"{INFO}/METADATA", False, METADATA.encode()), (f"{INFO}/WHEEL", False, WHEEL.encode())]


# ---- what pip calls: PEP 517

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    given = (config_settings or {}).get("build-dir")
    build = pathlib.Path(given).resolve() if given else _build()
    contents = [(f"attn/{p.relative_to(ROOT / 'python/attn').as_posix()}", False, p.read_bytes())
                for p in _files(ROOT / "python/attn")]
    with tempfile.TemporaryDirectory() as folder:
        prefix = pathlib.Path(folder) / "prefix"
        subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True,
                       stdout=subprocess.DEVNULL)
        for p in _files(prefix):
            name = f"attn/_compiler/{p.relative_to(prefix).as_posix()}"
            contents.append((name, os.access(p, os.X_OK), p.read_bytes()))
    name = f"attn-{VERSION}-{TAG}.whl"
    _write(os.path.join(wheel_directory, name), sorted(contents) + _metadata())
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory) / INFO
    folder.mkdir()
    for name, _, data in _metadata():
        (folder / pathlib.Path(name).name).write_bytes(data)
    return INFO


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("attn is built from a checkout: pip install CHECKOUT")
