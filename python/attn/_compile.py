"""From a source to a loaded model: attnc as a process, and a cache of what it wrote."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from typing import Dict, Iterator, List, Mapping, Optional, Sequence, Union

from ._device import Device
from ._library import Library
from ._model import Model, model_of
from .errors import CompileError, Error

PathLike = Union[str, "os.PathLike[str]"]
_USE = re.compile(r'\buse\s*"([^"\n]+)"')


def compiler() -> pathlib.Path:
    """attnc: what $ATTNC names, that of this package, or one on the path."""
    named = os.environ.get("ATTNC")
    beside = pathlib.Path(__file__).parent / "_compiler" / "bin" / "attnc"
    found = named or (str(beside) if beside.exists() else shutil.which("attnc"))
    if not found or not os.path.exists(found):
        raise CompileError(f"{found or 'attnc'} is not there: install this package from its wheel, or "
                           "name the compiler in ATTNC")
    return pathlib.Path(found)


def cache_folder() -> pathlib.Path:
    """Where compiled models are kept: $ATTNC_CACHE_DIR, $XDG_CACHE_HOME/attnc or ~/.cache/attnc."""
    own, shared = os.environ.get("ATTNC_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    base = pathlib.Path(own) if own else \
        (pathlib.Path(shared) if shared else pathlib.Path.home() / ".cache") / "attnc"
    return base / "models"


def _sources(path: pathlib.Path) -> Dict[str, bytes]:
    """The text of a file and of those that it uses, by the paths from its folder: all that a `use`
    may name. A file that is not there, or is outside of the folder, is for attnc to complain about."""
    root, texts, todo = path.parent, {}, [path.name]
    while todo:
        name = todo.pop()
        try:
            text = (root / name).read_bytes()
        except OSError:
            continue
        texts[name] = text
        for used in _USE.findall(text.decode(errors="replace")):
            relative = os.path.normpath(os.path.join(os.path.dirname(name), used))
            if not relative.startswith("..") and relative not in texts:
                todo.append(relative)
    return texts


def _stamp(path: pathlib.Path) -> str:
    info = path.stat()
    return f"{info.st_size} {info.st_mtime_ns}"


def _processor() -> str:
    """What `--target host` depends on."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as file:
        for line in file:
            if line.startswith("flags"):
                return line
    return os.uname().machine


def _key(path: pathlib.Path, attnc: pathlib.Path, options: Sequence[str]) -> str:
    parts = [path.name, *options, _stamp(attnc), _processor()]
    runtime = attnc.resolve().parent.parent / "lib" / "libattn_rt.a"
    if runtime.exists():
        parts.append(_stamp(runtime))
    digest = hashlib.sha256("\0".join(parts).encode())
    for name, text in sorted(_sources(path).items()):
        digest.update(b"\0" + name.encode() + b"\0" + hashlib.sha256(text).digest())
    return digest.hexdigest()[:32]


def _run(attnc: pathlib.Path, path: pathlib.Path, options: Sequence[str], out: pathlib.Path) -> None:
    command = [str(attnc), "build", str(path), "--shared", "--progress", "off", "--name", "model",
               "-o", str(out), *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        raise CompileError(done.stdout.decode(errors="replace").rstrip())


@contextlib.contextmanager
def _alone(path: pathlib.Path) -> Iterator[None]:
    """One process at a time; those that wait find what the first has made."""
    with open(path, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build(source: PathLike, options: Sequence[str], cache: bool = True) -> pathlib.Path:
    """The shared library of a source, from the cache where it is there."""
    path, attnc = pathlib.Path(source), compiler()
    if not path.exists():
        raise CompileError(f"{path}: No such file or directory")
    if not cache:
        out = pathlib.Path(tempfile.mkdtemp(prefix="attn-"))
        _run(attnc, path, [*options, "--no-cache"], out)
        return out / "model.so"
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    key = _key(path, attnc, options)
    library = folder / f"{key}.so"
    if not library.exists():
        with _alone(folder / f"{key}.lock"):
            if not library.exists():
                with tempfile.TemporaryDirectory(dir=folder) as made:
                    _run(attnc, path, options, pathlib.Path(made))
                    os.replace(pathlib.Path(made) / "model.so", library)
    return library


def compile(source: PathLike, *, model: Optional[str] = None, threads: int = 0,
            sizes: Optional[Mapping[str, int]] = None, derive: Sequence[str] = (),
            wrt: Sequence[str] = (), target: Optional[str] = None, device: str = "cpu",
            matmul_precision: Optional[str] = None, cache: bool = True,
            **more_sizes: int) -> Model:
    """Compiles an .attn file, or takes what was compiled before, and loads a model of it:
    attn.compile("model.attn", D=256).

    model: which, where the file has several. threads: 0 for as many as this process may run on. sizes:
    values of sizes that are compiled in, also given by name. derive, wrt, target, matmul_precision: as
    options of `attnc build`; it is compiled for the device where no target is given. device: "cpu", "cuda",
    "cuda:1" or "opencl", in whose memory all of the model is. Needs a C compiler, which links the library;
    `attn.load` needs none.

    Raises CompileError with what attnc printed."""
    options = ["--target", Device(device).target if target is None else target]
    for name, value in {**(sizes or {}), **more_sizes}.items():
        options += ["-D", f"{name}={value}"]
    if matmul_precision is not None:
        options += ["--matmul-precision", matmul_precision]
    for name in derive:
        options += ["--derive", name]
    for name in wrt:
        options += ["--wrt", name]
    return load(build(source, options, cache), model=model, threads=threads, device=device,
                _source=str(source))


def compile_text(text: str, **options: object) -> Model:
    """The same for a source that is a string; the options are those of compile."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "text.attn"
        path.write_text(text)
        try:
            return compile(path, **options)  # type: ignore[arg-type]
        except CompileError as e:
            raise CompileError(str(e).replace(f"{folder}/", "")) from None


def load(library: PathLike, *, model: Optional[str] = None, threads: int = 0, device: str = "cpu",
         _source: str = "") -> Model:
    """Loads a model of a shared library: one that `attnc build --shared` or CMake's
    attn_add_model(… SHARED) made. `model` says which, where there are several; `device` as in compile."""
    path = os.path.abspath(os.fspath(library))
    loaded, what = Library(path, threads, device), _source or path
    tables: Dict[str, int] = loaded.models()
    if model is None and len(tables) == 1:
        return model_of(loaded, next(iter(tables.values())))
    names: List[str] = list(tables)
    if model is None:
        raise Error(f"{what} has the models {', '.join(names)}: choose one with model=" if names else
                    f"{what} does not list its models: name one with model=")
    table = tables.get(model) or loaded.table(model)
    if table is None:
        raise Error(f"{what} has no model {model}" + (f": there are {', '.join(names)}" if names else ""))
    return model_of(loaded, table)
