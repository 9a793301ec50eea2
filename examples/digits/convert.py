#!/usr/bin/env python3
"""Makes images.npy and labels.npy from the digits that scikit-learn ships.

Usage: convert.py DIGITS.csv.gz [FOLDER]   (or a wheel of scikit-learn, which contains that file)

A row of the table is 64 integers from 0 to 16, the ink in each cell of an 8 by 8 image, top
row first, then the digit. The images are stored divided by 16, so from 0 to 1; that is exact.
"""
import csv
import gzip
import io
import pathlib
import struct
import sys
import zipfile

MEMBER = "sklearn/datasets/data/digits.csv.gz"


def read_rows(source):
    data = pathlib.Path(source).read_bytes()
    if data[:2] == b"PK":
        data = zipfile.ZipFile(io.BytesIO(data)).read(MEMBER)
    text = gzip.decompress(data).decode("ascii")
    return [[int(float(cell)) for cell in row] for row in csv.reader(io.StringIO(text))]


def write_npy(path, kind, shape, values):
    """Version 1.0 of the format: magic, length, a Python literal padded to 64 bytes, the data."""
    size = "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
    header = f"{{'descr': '<{kind}4', 'fortran_order': False, 'shape': {size}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    data = struct.pack(f"<{len(values)}{'f' if kind == 'f' else 'i'}", *values)
    head = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("ascii")
    path.write_bytes(head + data)


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) == 3 else pathlib.Path(__file__).parent)
    rows = read_rows(sys.argv[1])
    if any(len(row) != 65 or not all(0 <= cell <= 16 for cell in row[:64]) or not 0 <= row[64] <= 9
           for row in rows):
        sys.exit(f"{sys.argv[1]} is not the table of digits: 64 cells of 0 to 16, then a digit")
    pixels = [cell / 16 for row in rows for cell in row[:64]]
    write_npy(folder / "images.npy", "f", (len(rows), 8, 8), pixels)
    write_npy(folder / "labels.npy", "i", (len(rows),), [row[64] for row in rows])
    print(f"{len(rows)} digits in {folder}")


if __name__ == "__main__":
    main()
