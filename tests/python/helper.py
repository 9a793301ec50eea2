"""What the tests of the package share."""

import os
import pathlib
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]

ATTENTION = """
size B, T
size D = 8, H = 2, E = D / H

train model attention(x: [B, T, D], wanted: [B, T, D]) -> loss, y using sgd {
  param wq: [H, E, D], wk: [H, E, D], wv: [H, E, D], wo: [D, H, E]
  q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]
  k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]
  v[b,h,j,e] = sum[d] x[b,j,d] * wv[h,e,d]
  s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
  p[b,h,i,j] = softmax[j where j <= i] (s[b,h,i,j])
  z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
  y[b,i,d] = sum[h,e] z[b,h,i,e] * wo[d,h,e]
  loss = mean[b,i,d] (y[b,i,d] - wanted[b,i,d])^2
}
"""
ATTENTION = "use std.optim\n" + ATTENTION


def skip(what):
    """Ends the test as skipped: CTest shows it, and why."""
    print(f"SKIPPED: {what}")
    sys.exit(77)


def require(module):
    try:
        return __import__(module)
    except ImportError:
        return skip(f"Python has no {module}: {os.path.basename(sys.argv[0])} is not run")


def main():
    unittest.main(verbosity=1)
