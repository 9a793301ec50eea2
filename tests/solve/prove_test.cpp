// The range prover: what follows from ranges and guards, and what must not.
#include "compiler/solve/prove.h"

#include <gtest/gtest.h>

#include <ctime>

#include "compiler/ops/table.h"

namespace attn::solve {
namespace {

using ir::Conditions;
using ir::Expr;
using ir::IndexId;
using ir::Poly;
using ir::SizeId;

class Prove : public ::testing::Test {
 protected:
  SizeId size(std::string name) {
    g.sizes.push_back({.name = std::move(name)});
    return {static_cast<int32_t>(g.sizes.size()) - 1};
  }
  Expr index(std::string name, Poly extent) {
    return ir::index_value(g.new_index(std::move(name), std::move(extent)));
  }
  Poly P(SizeId id) const { return Poly::size(id); }
  Expr S(const Poly& p) const { return ir::size_value(p); }
  Expr call(std::string_view name, std::vector<Expr> x) { return ops::apply(name, std::move(x)); }
  Expr clamp(const Expr& x, const Expr& low, const Expr& high) {
    return call("min", {call("max", {x, low}), high});
  }
  Expr range(const Expr& e, const Expr& extent) {
    return ir::all_of({ir::at_most(0, e), ir::less(e, extent)});
  }
  bool in_range(const Expr& e, const Poly& extent, const Conditions& known = {}) {
    return proves(g, known, range(e, S(extent)));
  }
  ir::TensorId tensor(std::string name, ir::Storage storage, std::vector<Poly> extents) {
    return g.new_tensor({.name = std::move(name),
                         .storage = storage,
                         .extents = std::move(extents),
                         .role = ir::Role::input,
                         .init = {},
                         .doc = {},
                         .where = {}});
  }

  ir::Graph g;
};

TEST_F(Prove, RangesOfIndicesHold) {
  SizeId T = size("T");
  Expr i = index("i", P(T));
  EXPECT_TRUE(in_range(i, P(T)));
  EXPECT_TRUE(in_range(i + 1, P(T) + Poly(1)));
  EXPECT_FALSE(in_range(i + 1, P(T)));
  EXPECT_FALSE(in_range(i - 1, P(T)));
}

TEST_F(Prove, PointsMakeTheirSizesPositive) {
  SizeId T = size("T"), U = size("U");
  Expr i = index("i", P(T));
  EXPECT_TRUE(proves(g, {ir::at_least_zero(i)}, ir::at_least_zero(S(P(T)) - 1)));
  EXPECT_FALSE(proves(g, {}, ir::at_least_zero(S(P(U)) - 1)));
  g.new_index("u", P(U));  // exists, but not at this point
  EXPECT_FALSE(proves(g, {ir::at_least_zero(i)}, ir::at_least_zero(S(P(U)) - 1)));
}

TEST_F(Prove, PackedSubscriptsAreInRange) {
  SizeId H = size("H"), E = size("E");
  SizeId D = size("D");
  g[D].definition = P(H) * P(E);
  Expr h = index("h", P(H)), e = index("e", P(E)), d = index("d", P(D));
  EXPECT_TRUE(in_range(h * S(P(E)) + e, P(D)));
  EXPECT_TRUE(in_range(ir::quotient(d, S(P(E))), P(H)));
  EXPECT_TRUE(in_range(ir::remainder(d, S(P(E))), P(E)));
  EXPECT_FALSE(in_range(h * S(P(E)) + e + 1, P(D)));
  EXPECT_FALSE(in_range(ir::quotient(d + 1, S(P(E))), P(H)));
}

TEST_F(Prove, PackedSubscriptsOfKnownSizesAreInRange) {
  SizeId D = size("D"), H = size("H"), E = size("E");
  g[D].value = 256;
  g[H].value = 8;
  g[E].value = 32;
  Expr d = index("d", P(D));
  EXPECT_TRUE(in_range(ir::quotient(d, S(P(E))), P(H)));
  EXPECT_TRUE(in_range(ir::remainder(d, S(P(E))), P(E)));
  EXPECT_FALSE(in_range(ir::quotient(d, S(Poly(31))), P(H)));
}

TEST_F(Prove, FloorDivisionOfNegativesRoundsDown) {
  SizeId T = size("T");
  Expr i = index("i", P(T));
  Expr q = ir::quotient(i - S(P(T)), 2);
  EXPECT_TRUE(proves(g, {}, ir::at_most(q, -1)));
  EXPECT_TRUE(proves(g, {}, ir::at_least_zero(q * 2 + S(P(T)) + 1)));
  EXPECT_TRUE(in_range(ir::remainder(i - S(P(T)), 3), Poly(3)));
}

TEST_F(Prove, GuardsBoundSubscripts) {
  SizeId T = size("T"), P0 = size("P");
  Expr i = index("i", P(T)), k = index("k", Poly(3));
  Expr at = i + k - 1;
  EXPECT_FALSE(in_range(at, P(T)));
  EXPECT_TRUE(in_range(at, P(T), ir::conjuncts(range(at, S(P(T))))));
  // present[j: P + T] = if j < P then past[j] else new[j - P]
  Expr j = index("j", P(P0) + P(T));
  EXPECT_TRUE(in_range(j, P(P0), {ir::less(j, S(P(P0)))}));
  EXPECT_TRUE(in_range(j - S(P(P0)), P(T), {ir::negation(ir::less(j, S(P(P0))))}));
  EXPECT_FALSE(in_range(j - S(P(P0)), P(T)));
}

TEST_F(Prove, WindowsAndChainsOfConditions) {
  SizeId T = size("T"), W = size("W");
  Expr i = index("i", P(T)), j = index("j", P(T));
  Conditions window = ir::conjuncts(range(i - j, S(P(W))));
  EXPECT_TRUE(in_range(i - j, P(W), window));
  EXPECT_TRUE(proves(g, window, ir::at_most(j, i)));
  EXPECT_TRUE(in_range(i - j + S(P(T)) - 1, P(T) * Poly(2) - Poly(1)));
  EXPECT_TRUE(proves(g, {ir::less(j, i)}, ir::at_most(2, S(P(T)))));
  EXPECT_FALSE(proves(g, {ir::less(j, i)}, ir::at_most(3, S(P(T)))));
}

TEST_F(Prove, ClampsAreSeenThrough) {
  SizeId T = size("T"), K = size("K");
  Expr i = index("i", P(T)), j = index("j", P(T));
  Expr k = S(P(K));
  EXPECT_TRUE(in_range(clamp(j - i, -k, k) + k, P(K) * Poly(2) + Poly(1)));
  EXPECT_FALSE(in_range(clamp(j - i, -k, k) + k, P(K) * Poly(2)));
  EXPECT_TRUE(in_range(clamp(i + 5, 0, S(P(T)) - 1), P(T)));
  // Of any number, where there is something: by an index that it depends on, or as is known.
  const Expr x = call("int", {g.read(tensor("x", ir::Storage::f32, {P(T)}), {i})});
  EXPECT_TRUE(in_range(clamp(x, 0, S(P(T)) - 1), P(T)));
  EXPECT_FALSE(in_range(clamp(x, 0, k - 1), P(K)));
  EXPECT_TRUE(in_range(clamp(x, 0, k - 1), P(K), {ir::less(0, k)}));
  EXPECT_FALSE(in_range(clamp(x, 0, k - 2), P(K), {ir::less(0, k)}));
  EXPECT_TRUE(in_range(call("abs", {i - j}), P(T)));
  EXPECT_TRUE(in_range(call("max", {i, j}), P(T)));
  EXPECT_TRUE(in_range(ir::select(ir::less(i, j), i, j), P(T)));
  EXPECT_TRUE(in_range(ir::select(ir::less(0, i), i - 1, 0), P(T)));
}

TEST_F(Prove, DisjunctionsAreProvedFromEachSide) {
  SizeId T = size("T");
  Expr i = index("i", P(T)), j = index("j", P(T));
  Expr either = ir::any_of({ir::at_most(5, i), ir::at_most(7, i)});
  EXPECT_TRUE(proves(g, {either}, ir::at_most(5, i)));
  EXPECT_FALSE(proves(g, {either}, ir::at_most(6, i)));
  EXPECT_TRUE(proves(g, {}, ir::any_of({ir::at_most(i, j), ir::at_most(j, i)})));
  EXPECT_TRUE(proves(g, {ir::at_most(0, i - 1)}, ir::any_of({ir::less(0, i), ir::less(9, j)})));
  EXPECT_TRUE(proves(g, {ir::not_zero(i)}, ir::at_most(1, i)));
  EXPECT_FALSE(proves(g, {ir::not_zero(i - j)}, ir::less(i, j)));
}

TEST_F(Prove, EqualitiesAreUsedAndProved) {
  SizeId T = size("T");
  Expr i = index("i", P(T)), j = index("j", P(T));
  EXPECT_TRUE(proves(g, {ir::is_zero(i - j - 1)}, ir::less(j, i)));
  EXPECT_TRUE(proves(g, {ir::at_most(i, j), ir::at_most(j, i)}, ir::is_zero(i - j)));
  EXPECT_TRUE(proves(g, {ir::less(i, j)}, ir::not_zero(i - j)));
  EXPECT_FALSE(proves(g, {ir::at_most(i, j)}, ir::not_zero(i - j)));
}

TEST_F(Prove, DataCountsAsAnUnknown) {
  SizeId B = size("B"), T = size("T"), V = size("V");
  ir::TensorId token = tensor("token", ir::Storage::i32, {P(B), P(T)});
  Expr b = index("b", P(B)), t = index("t", P(T)), v = index("v", P(V));
  Expr n = g.read(token, {b, t});
  EXPECT_FALSE(in_range(n, P(V)));
  EXPECT_TRUE(in_range(n, P(V), {ir::is_zero(n - v)}));
  EXPECT_TRUE(in_range(n - 1, P(V),
                       ir::conjuncts(range(n, S(P(V)))).size() == 2
                           ? Conditions{ir::less(0, n), ir::less(n, S(P(V)))}
                           : Conditions{}));
}

TEST_F(Prove, QuotientSizesAreBounded) {
  SizeId T = size("T"), Q = size("Q");
  g[Q].quotient = {P(T), Poly(2)};
  Expr q = index("q", P(Q));
  EXPECT_TRUE(in_range(q * 2 + 1, P(T)));
  EXPECT_FALSE(in_range(q * 2 + 2, P(T)));
}

TEST_F(Prove, NonnegativeUsesBoundsOfSizes) {
  SizeId T = size("T"), K = size("K"), N = size("N");
  g[K].lower = 1;
  g[N].upper = 64;
  EXPECT_TRUE(nonnegative(g, P(T)));
  EXPECT_FALSE(nonnegative(g, P(T) - Poly(1)));
  EXPECT_TRUE(nonnegative(g, P(K) - Poly(1)));
  EXPECT_TRUE(nonnegative(g, P(T) * P(K) - P(T)));
  EXPECT_TRUE(nonnegative(g, Poly(64) - P(N)));
  EXPECT_FALSE(nonnegative(g, Poly(63) - P(N)));
  IndexId i = g.new_index("i", P(T) - Poly(2));
  EXPECT_TRUE(nonnegative(g, P(T) - Poly(3), {i}));
  EXPECT_FALSE(nonnegative(g, P(T) - Poly(4), {i}));
}

TEST_F(Prove, TidyDropsWhatIsImplied) {
  SizeId T = size("T");
  Expr i = index("i", P(T)), j = index("j", P(T));
  Conditions c{ir::at_least_zero(i), ir::less(j, i), ir::at_most(j, i), ir::less(j, S(P(T)))};
  EXPECT_EQ(tidy(g, c), Conditions{ir::less(j, i)});
  EXPECT_EQ(tidy(g, c, {ir::less(j, i)}), Conditions{});
  Conditions both_ways{ir::at_most(i, j), ir::at_most(j, i), ir::is_zero(i - j)};
  EXPECT_FALSE(tidy(g, both_ways).empty());
}

// Processor time, so that it does not matter what else runs.
TEST_F(Prove, TidyOfManyConditionsDoesNotMultiplyThem) {
  const Expr i = index("i", P(size("T")));
  const auto seconds = [&](int count) {
    Conditions c;
    for (int k = 0; k < count; ++k) c.merge(ir::conjuncts(ir::negation(ir::is_zero(i - k))));
    const std::clock_t start = std::clock();
    EXPECT_EQ(tidy(g, c).size(), static_cast<size_t>(count));
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  EXPECT_LT(seconds(2000), 8);  // 2; 20 where each condition is looked at for each other one
}

TEST_F(Prove, AssumeDecidesSelectsAndQuotients) {
  SizeId T = size("T"), H = size("H"), E = size("E");
  Expr i = index("i", P(T)), j = index("j", P(T));
  ir::TensorId x = tensor("x", ir::Storage::f32, {P(T)});
  Expr xi = g.read(x, {i}), xj = g.read(x, {j});
  Expr e = ir::select(ir::at_most(j, i), xi, xj) + 1.5;
  EXPECT_EQ(assume(g, e, {ir::less(j, i)}), xi + 1.5);
  EXPECT_EQ(assume(g, e, {ir::less(i, j)}), xj + 1.5);
  EXPECT_EQ(assume(g, e, {}), e);
  Expr nested = ir::select(ir::at_most(j, i), ir::select(ir::at_most(j, i + 1), xi, xj) * 2.0, xj);
  EXPECT_EQ(assume(g, nested, {}), ir::select(ir::at_most(j, i), xi * 2.0, xj));
  // A conjunct that is known goes from a condition.
  Expr masked = ir::select(ir::all_of({ir::at_most(j, i), ir::less(0, j)}), xi, 0);
  EXPECT_EQ(assume(g, masked, {ir::at_most(j, i)}), ir::select(ir::less(0, j), xi, 0));
  Expr h = index("h", P(H)), f = index("f", P(E));
  Expr packed = h * S(P(E)) + f;
  EXPECT_EQ(assume(g, ir::quotient(packed, S(P(E))), {}), h);
  EXPECT_EQ(assume(g, ir::remainder(packed, S(P(E))), {}), f);
  EXPECT_EQ(assume(g, ops::apply("max", {i, 0}), {}), i);
}

// As those of heads that share keys, h // G where (E*h + f) // (E*G) is written.
TEST_F(Prove, AssumeDividesByTheFactorsOfADivisor) {
  const SizeId H = size("H"), E = size("E"), G = size("G");
  g.sizes[G.value].lower = 1;
  const Expr h = index("h", P(H)), f = index("f", P(E)), e = S(P(E)), group = S(P(G));
  const Expr of_group = S(P(E) * P(G)), packed = h * e + f;
  EXPECT_EQ(assume(g, ir::quotient(packed, of_group), {}), ir::quotient(h, group));
  EXPECT_EQ(assume(g, ir::remainder(packed, of_group), {}), e * ir::remainder(h, group) + f);
  EXPECT_EQ(assume(g, ir::quotient(packed - of_group, of_group), {}), ir::quotient(h, group) - 1);
  EXPECT_EQ(assume(g, ir::quotient(6 * h + 5, 15), {}), ir::quotient(6 * h + 5, 15));
  EXPECT_EQ(assume(g, ir::quotient(6 * h + 5, 18), {}), ir::quotient(h, 3));
  EXPECT_EQ(assume(g, ir::remainder(6 * h + 5, 18), {}), 6 * ir::remainder(h, 3) + 5);
  EXPECT_EQ(assume(g, ir::quotient(6 * h + 6, 18), {}), ir::quotient(h + 1, 3));
  // What is beside the factor may be as large as it.
  for (const Expr& wide : {h * e + f + 1, h * e - f, h * e + index("w", P(E) + Poly(1))}) {
    EXPECT_EQ(assume(g, ir::quotient(wide, of_group), {}), ir::quotient(wide, of_group));
    EXPECT_EQ(assume(g, ir::remainder(wide, of_group), {}), ir::remainder(wide, of_group));
  }
}

TEST_F(Prove, RangeOfGivesPolynomials) {
  SizeId T = size("T"), H = size("H"), E = size("E");
  Expr i = index("i", P(T)), j = index("j", P(T)), d = index("d", P(H) * P(E));
  Range r = range_of(g, j - i + 3);
  EXPECT_EQ(r.lowest, Poly(4) - P(T));
  EXPECT_EQ(r.highest, P(T) + Poly(2));
  r = range_of(g, ir::quotient(d, S(P(E))));
  EXPECT_EQ(r.lowest, Poly(0));
  EXPECT_EQ(r.highest, P(H) - Poly(1));
  r = range_of(g, ir::remainder(d, S(P(E))));
  EXPECT_EQ(r.highest, P(E) - Poly(1));
  ir::TensorId x = tensor("x", ir::Storage::i32, {P(T)});
  EXPECT_FALSE(range_of(g, g.read(x, {i})).lowest);
}

TEST_F(Prove, EverythingWhereAConditionNeverHolds) {
  const Expr n = S(P(size("N")));
  EXPECT_FALSE(proves(g, {}, ir::less(0, n)));
  EXPECT_TRUE(proves(g, {ir::truth(false)}, ir::less(0, n)));
}

// What is said of sizes alone says which divisors are positive.
TEST_F(Prove, ConditionsOnSizesMakeDivisorsPositive) {
  const Poly T = P(size("T")), S = P(size("S"));
  const Expr m = index("m", S), e = ir::remainder(m + 1, ir::size_value(T));
  EXPECT_FALSE(in_range(e, T));
  EXPECT_FALSE(in_range(e, T, {ir::at_least_zero(ir::size_value(T))}));
  EXPECT_TRUE(in_range(e, T, {ir::at_least_zero(ir::size_value(T) - 1)}));
  EXPECT_TRUE(in_range(e, T, {ir::not_zero(ir::size_value(T))}));
  EXPECT_TRUE(in_range(e, T, {ir::at_least_zero(ir::size_value(T - S))}));
  EXPECT_TRUE(in_range(m - ir::remainder(m, ir::size_value(T)), S,
                       {ir::at_least_zero(ir::size_value(T) - 1)}));
}

TEST_F(Prove, MapsOfIntegersAreSeenThrough) {
  const SizeId N = size("N");
  const IndexId i = g.new_index("i", P(N));
  const auto define = [&](const char* name, const Expr& body, Conditions guard) {
    const ir::TensorId t = tensor(name, ir::Storage::i32, {P(N)});
    g[t].role = ir::Role::interior;
    g.definitions.push_back({.target = t, .free = {i}, .guard = std::move(guard), .body = body});
    return t;
  };
  const Expr at = ir::index_value(i);
  const ir::TensorId back = define("back", S(P(N) - Poly(1)) - at, {});
  const ir::TensorId ahead = define("ahead", at + 1, {ir::at_least_zero(S(P(N)) - at - 2)});
  const ir::TensorId beyond = define("beyond", at + 1, {});
  const Expr j = index("j", P(N));
  EXPECT_TRUE(in_range(g.read(back, {j}), P(N)));
  EXPECT_TRUE(in_range(g.read(back, {g.read(back, {j})}), P(N)));
  EXPECT_TRUE(in_range(g.read(ahead, {j}), P(N)));
  EXPECT_FALSE(in_range(g.read(beyond, {j}), P(N)));
  // A recurrence is not looked through without end.
  const ir::TensorId self = define("self", Expr(0), {});
  g.definitions.back().body = g.read(self, {at}) + 1;
  EXPECT_FALSE(in_range(g.read(self, {j}), P(N)));
}

}  // namespace
}  // namespace attn::solve
