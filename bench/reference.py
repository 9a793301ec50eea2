"""Attention and its gradients in float64, one head at a time, written out by hand."""

import numpy as np


def attention(q, k, v, dz, *, visible=None, change=None):
    """z, dq, dk, dv and a list of ds, one a head, for q [H, N, E], k [H, M, E], v [H, M, F].

    z_i = sum_j p_ij v_j with p_i = softmax_j(change(q_i k_j / sqrt E)) over the visible j. `change`
    takes a head and its scores and gives new scores and their derivative by the old ones (or 1);
    ds is by the new ones.
    """
    heads, scale = q.shape[0], 1 / np.sqrt(q.shape[-1])
    results = [[] for _ in range(5)]
    for h in range(heads):
        qh, kh, vh, dzh = (np.asarray(x[h], np.float64) for x in (q, k, v, dz))
        s, derivative = qh @ kh.T * scale, 1.0
        if change:
            s, derivative = change(h, s)
        if visible is not None:
            s = np.where(visible, s, -np.inf)
        p = np.exp(s - s.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        z = p @ vh
        ds = p * (dzh @ vh.T - (dzh * z).sum(axis=1, keepdims=True))
        inner = ds * derivative * scale
        for list_, value in zip(results, (z, inner @ kh, inner.T @ qh, p.T @ dzh, ds)):
            list_.append(value)
    return (*(np.stack(x) for x in results[:4]), results[4])


def along_diagonals(ds):
    """The sum over i - j + N - 1 == t, for every t: what a relative table's gradient is."""
    n = ds.shape[0]
    return np.array([np.trace(ds, offset=n - 1 - t) for t in range(2 * n - 1)])
