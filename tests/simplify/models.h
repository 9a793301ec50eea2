// Models in index notation that the tests of the middle share: small, of every kind.
#pragma once

namespace attn::testing {

struct NamedModel {
  const char* name;
  const char* text;  // for build_graph
};

inline constexpr NamedModel kModels[] = {
    {"attention", R"(
size B, T, D = 4, H = 2, E = D / H
input x[B,T,D]
param wq[H,E,D], wk[H,E,D], wv[H,E,D], wo[D,H,E]
q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]
k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]
v[b,h,j,e] = sum[d] x[b,j,d] * wv[h,e,d]
s[b,h,i,j] = sum[e] q[b,h,i,e] * k[b,h,j,e] / sqrt(E)
p.lse[b,h,i] = logsumexp[j where j <= i] s[b,h,i,j]
p[b,h,i,j] = exp(s[b,h,i,j] - p.lse[b,h,i]) where j <= i
z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
y[b,i,d] = sum[h,e] z[b,h,i,e] * wo[d,h,e]
output y
)"},
    {"image", R"(
size B, R, C, E = 3, W = 1
input q[B,R,C,E], k[B,R,C,E], v[B,R,C,E], bias[2*W + 1,2*W + 1]
s[b,r,c,y,x] = sum[e] q[b,r,c,e] * k[b,y,x,e]
p.score[b,r,c,y,x] = s[b,r,c,y,x] + bias[y - r + W,x - c + W] where y - r <= W and r - y <= W and x - c <= W and c - x <= W
p.lse[b,r,c] = logsumexp[y,x where y - r <= W and r - y <= W and x - c <= W and c - x <= W] p.score[b,r,c,y,x]
p[b,r,c,y,x] = exp(p.score[b,r,c,y,x] - p.lse[b,r,c]) where y - r <= W and r - y <= W and x - c <= W and c - x <= W
z[b,r,c,e] = sum[y,x] p[b,r,c,y,x] * v[b,y,x,e]
output z
)"},
    {"relative", R"(
size B, T, D = 4, H = 2, E = D / H
input x[B,T,D], r[2*T - 1,D]
param wq[H,E,D], wk[H,E,D], wv[H,E,D], wr[H,E,D], u[H,E], w[H,E]
q[b,h,i,e] = sum[d] x[b,i,d] * wq[h,e,d]
k[b,h,j,e] = sum[d] x[b,j,d] * wk[h,e,d]
v[b,h,j,e] = sum[d] x[b,j,d] * wv[h,e,d]
rk[h,n,e] = sum[d] r[n,d] * wr[h,e,d]
s.c[b,h,i,j] = sum[e] (q[b,h,i,e] + u[h,e]) * k[b,h,j,e]
s.p[b,h,i,j: T] = sum[e] (q[b,h,i,e] + w[h,e]) * rk[h,i - j + T - 1,e]
s[b,h,i,j] = (s.c[b,h,i,j] + s.p[b,h,i,j]) / sqrt(E)
p.lse[b,h,i] = logsumexp[j where j <= i] s[b,h,i,j]
p[b,h,i,j] = exp(s[b,h,i,j] - p.lse[b,h,i]) where j <= i
z[b,h,i,e] = sum[j] p[b,h,i,j] * v[b,h,j,e]
output z
)"},
    {"entropy", R"(
size B, T, E = 3
input q[B,T,E], k[B,T,E], v[B,T,E]
s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e] / sqrt(E)
p.lse[b,i] = logsumexp[j where j <= i] s[b,i,j]
p[b,i,j] = exp(s[b,i,j] - p.lse[b,i]) where j <= i
z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
a[b,i] = sum[j where j <= i] -p[b,i,j] * log(p[b,i,j])
output z, a
)"},
    {"cross_entropy", R"(
size N, D = 2, V = 200
input h[N,D]
int t[N]
param w[V,D]
l[n,v] = sum[d] h[n,d] * w[v,d]
l.lse[n] = logsumexp[v] l[n,v]
p[n,v] = exp(l[n,v] - l.lse[n])
nll[n] = -log(p[n,t[n]])
total = sum[n] nll[n]
loss = total / max(N, 1)
output loss
)"},
    {"norm_and_feed_forward", R"(
size B, T, D = 3, F = 4 * D
input x[B,T,D]
param g[D], c[D], w1[F,D], b1[F], w2[D,F], b2[D]
x.sum[b,i] = sum[d] x[b,i,d]
m[b,i] = x.sum[b,i] / D
sq[b,i] = sum[d] (x[b,i,d] - m[b,i])^2
var[b,i] = sq[b,i] / D
n[b,i,d] = (x[b,i,d] - m[b,i]) / sqrt(var[b,i] + 0.01) * g[d] + c[d]
u.1[b,i,f] = sum[d] n[b,i,d] * w1[f,d]
u[b,i,f] = u.1[b,i,f] + b1[f]
a[b,i,f] = 0.5 * u[b,i,f] * (1 + erf(u[b,i,f] / sqrt(2)))
o[b,i,d] = sum[f] a[b,i,f] * w2[d,f]
y[b,i,d] = x[b,i,d] + o[b,i,d] + b2[d]
output y
)"},
    {"linear_attention", R"(
size B, T, E = 3
input q[B,T,E], k[B,T,E], v[B,T,E]
s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
z[b,i,e] = sum[j] s[b,i,j] * v[b,j,e]
output z
)"},
    {"convolution", R"(
size N, W, C = 2, P = W // 2
input x[N,W]
param w[C,3], c[C]
h[n,c,i: W] = sum[k: 3 where 0 <= i + k - 1 and i + k - 1 < W] x[n,i + k - 1] * w[c,k]
a[n,c,i] = relu(h[n,c,i] + c[c])
m[n,c,i: P] = max[k: 2] a[n,c,2*i + k]
y[n] = sum[c,i] m[n,c,i]
output y
)"},
    {"windowed_with_lengths", R"(
size B, T, S, E = 2
input q[B,T,E], k[B,S,E], v[B,S,E]
int len[B]
s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
t[b,i,j] = 5 * tanh(s[b,i,j] / 5) - 0.1 * abs(i - j)
p.lse[b,i] = logsumexp[j where j < len[b] and i - j < 2] t[b,i,j]
p[b,i,j] = exp(t[b,i,j] - p.lse[b,i]) where j < len[b] and i - j < 2
z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
output z
)"},
    {"gated", R"(
size B, T, E = 2
input q[B,T,E], k[B,T,E], v[B,T,E]
s[b,i,j] = sum[e] q[b,i,e] * k[b,j,e]
p[b,i,j] = sigmoid(s[b,i,j]) where j <= i
z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
output z
)"},
    {"embedding_and_products", R"(
size B, T, D = 3, V = 4
int token[B,T]
param table[V,D], w[D]
x[b,i,d] = table[token[b,i],d]
y[b,d] = prod[i] x[b,i,d]
z[b] = max[d] y[b,d] * w[d]
n[b] = min[i] x[b,i,0]
output z, n
)"},
};

}  // namespace attn::testing
