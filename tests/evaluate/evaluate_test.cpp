// The evaluator against values worked out by hand.
#include "compiler/evaluate/evaluate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <ctime>
#include <limits>

#include "compiler/ops/table.h"

namespace attn::evaluate {
namespace {

using ir::Combine;
using ir::Conditions;
using ir::Expr;
using ir::IndexId;
using ir::Poly;
using ir::Storage;
using ir::TensorId;

using Values = std::vector<double>;
constexpr double kLowest = -static_cast<double>(std::numeric_limits<float>::max());

class Evaluate : public ::testing::Test {
 protected:
  Poly size(std::string name) {
    g.sizes.push_back({.name = std::move(name)});
    return Poly::size({static_cast<int32_t>(g.sizes.size()) - 1});
  }
  TensorId tensor(std::string name, std::vector<Poly> extents, Storage storage, ir::Role role) {
    ir::Tensor t;
    t.name = std::move(name);
    t.storage = storage;
    t.extents = std::move(extents);
    t.role = role;
    return g.new_tensor(t);
  }
  TensorId input(std::string name, std::vector<Poly> extents, Storage storage = Storage::f32) {
    return tensor(std::move(name), std::move(extents), storage, ir::Role::input);
  }
  Expr index(std::string name, Poly extent) {
    return ir::index_value(g.new_index(std::move(name), std::move(extent)));
  }
  Expr read(TensorId t, std::vector<Expr> subscripts) { return g.read(t, std::move(subscripts)); }
  Expr S(const Poly& p) { return ir::size_value(p); }
  TensorId define(std::string name, std::vector<Expr> free, Combine combine,
                  std::vector<Expr> reduced, const Expr& guard, const Expr& body,
                  Storage storage = Storage::f32) {
    ir::Definition d;
    std::vector<Poly> extents;
    for (const Expr& i : free) {
      d.free.push_back(i->index);
      extents.push_back(g[i->index].extent);
    }
    d.target = tensor(std::move(name), extents, storage, ir::Role::interior);
    d.combine = combine;
    for (const Expr& i : reduced) d.reduced.push_back(i->index);
    d.guard = ir::conjuncts(guard);
    d.body = body;
    g.definitions.push_back(ir::normal_form(std::move(d)));
    return g.definitions.back().target;
  }
  TensorId define(std::string name, std::vector<Expr> free, const Expr& body) {
    return define(std::move(name), std::move(free), Combine::set, {}, ir::truth(true), body);
  }
  std::vector<double> value(const std::string& name) {
    ir::verify(g, "the test");
    return evaluate(g, given).at(name).values;
  }
  void give(const std::string& name, std::vector<int64_t> extents, std::vector<double> values) {
    given[name] = {std::move(extents), std::move(values)};
  }

  ir::Graph g;
  Arrays given;
  Expr always = ir::truth(true);
};

TEST_F(Evaluate, MultipliesMatrices) {
  Poly M = size("M"), N = size("N"), K = size("K");
  TensorId a = input("a", {M, K}), b = input("b", {K, N});
  Expr i = index("i", M), j = index("j", N), k = index("k", K);
  define("c", {i, j}, Combine::sum, {k}, always, read(a, {i, k}) * read(b, {k, j}));
  give("a", {2, 3}, {1, 2, 3, 4, 5, 6});
  give("b", {3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(value("c"), (Values{58, 64, 139, 154}));
  give("a", {2, 0}, {});
  give("b", {0, 2}, {});
  EXPECT_EQ(value("c"), (Values{0, 0, 0, 0}));
  give("a", {0, 3}, {});
  give("b", {3, 2}, {7, 8, 9, 10, 11, 12});
  EXPECT_EQ(value("c"), (Values{}));
}

TEST_F(Evaluate, SoftmaxOfACausalRow) {
  Poly T = size("T");
  TensorId x = input("s", {T, T});
  Expr i = index("i", T), j = index("j", T), i2 = index("i", T), j2 = index("j", T);
  TensorId lse = define("lse", {i}, Combine::logsumexp, {j}, ir::at_most(j, i), read(x, {i, j}));
  define("p", {i2, j2}, Combine::set, {}, ir::at_most(j2, i2),
         ops::apply("exp", {read(x, {i2, j2}) - read(lse, {i2})}));
  double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  // What the condition hides does not matter, whatever its bits; large scores stay accurate.
  give("s", {3, 3}, {5, nan, inf, 1000, 1001, nan, -inf, 0, 0});
  double e = std::exp(1.0);
  Values wanted = {1, 0, 0, 1 / (1 + e), e / (1 + e), 0, 0, 0.5, 0.5}, p = value("p");
  for (size_t k = 0; k < wanted.size(); ++k) EXPECT_NEAR(p[k], wanted[k], 1e-12) << k;
}

TEST_F(Evaluate, ReductionsOverNothingAreNeutral) {
  Poly T = size("T");
  TensorId x = input("x", {T});
  Expr body = read(x, {0});
  std::vector<std::pair<Combine, double>> expected = {
      {Combine::sum, 0},  {Combine::max, kLowest}, {Combine::min, -kLowest},
      {Combine::prod, 1}, {Combine::argmax, 0},    {Combine::logsumexp, kLowest}};
  for (auto [combine, value] : expected) {
    Expr j = index("j", T);
    Storage storage = combine == Combine::argmax ? Storage::i32 : Storage::f32;
    define(std::string(name_of(combine)), {}, combine, {j}, always, read(x, {j}), storage);
  }
  give("x", {0}, {});
  for (auto [combine, wanted] : expected)
    EXPECT_EQ(value(std::string(name_of(combine))), (Values{wanted})) << name_of(combine);
  give("x", {3}, {2, -1, 4});
  double lse = std::log(std::exp(2.) + std::exp(-1.) + std::exp(4.));
  std::map<std::string, double> full = {{"sum", 5},   {"max", 4},    {"min", -1},
                                        {"prod", -8}, {"argmax", 2}, {"logsumexp", lse}};
  for (auto& [name, wanted] : full) EXPECT_NEAR(value(name)[0], wanted, 1e-12) << name;
}

TEST_F(Evaluate, TheFirstOfEqualsWins) {
  Poly T = size("T");
  TensorId x = input("x", {T});
  Expr j = index("j", T);
  define("a", {}, Combine::argmax, {j}, always, read(x, {j}), Storage::i32);
  give("x", {5}, {1, 7, 3, 7, 7});
  EXPECT_EQ(value("a"), (Values{1}));
  give("x", {2}, {-1e300, -1e300});
  EXPECT_EQ(value("a"), (Values{0}));
}

TEST_F(Evaluate, ShiftedReadsStayBehindTheirConditions) {
  Poly T = size("T");
  TensorId x = input("x", {T}), w = input("w", {Poly(3)});
  Expr i = index("i", T), k = index("k", Poly(3)), at = i + k - 1;
  define("y", {i}, Combine::sum, {k}, ir::all_of({ir::at_least_zero(at), ir::less(at, S(T))}),
         read(x, {at}) * read(w, {k}));
  Expr i2 = index("i", T);
  define("z", {i2}, ir::select(ir::less(0, i2), read(x, {i2 - 1}), 100.0));
  Expr i3 = index("i", T);
  define("o", {i3}, Combine::set, {},
         ir::any_of({ir::is_zero(i3), ir::less(2.0, read(x, {i3 - 1}))}), Expr(1.5) + i3);
  give("x", {4}, {1, 2, 3, 4});
  give("w", {3}, {1, 10, 100});
  EXPECT_EQ(value("y"), (Values{210, 321, 432, 43}));
  EXPECT_EQ(value("z"), (Values{100, 1, 2, 3}));
  EXPECT_EQ(value("o"), (Values{1.5, 0, 0, 4.5}));
}

TEST_F(Evaluate, ReadsOutOfRangeAreFaultsOfTheCompiler) {
  Poly T = size("T");
  TensorId x = input("x", {T});
  Expr i = index("i", T);
  define("y", {i}, read(x, {i + 1}));
  give("x", {2}, {1, 2});
  EXPECT_THROW(value("y"), InternalError);
}

TEST_F(Evaluate, GathersAreChecked) {
  Poly T = size("T"), V = size("V");
  TensorId token = input("token", {T}, Storage::i32), table = input("table", {V});
  TensorId keep = input("keep", {T}, Storage::boolean);
  Expr t = index("t", T);
  define("y", {t}, Combine::set, {}, read(keep, {t}), read(table, {read(token, {t})}));
  give("token", {3}, {2, 0, 9});
  give("table", {3}, {10, 20, 30});
  give("keep", {3}, {1, 1, 0});
  EXPECT_EQ(value("y"), (Values{30, 10, 0}));
  give("keep", {3}, {1, 1, 1});
  try {
    value("y");
    FAIL();
  } catch (const CallError& e) {
    EXPECT_NE(std::string(e.what()).find("table is read at 9 in dimension 1, which has extent 3"),
              std::string::npos);
  }
}

TEST_F(Evaluate, ScattersAddAtTheirPlaces) {
  Poly T = size("T"), V = size("V"), D = size("D");
  TensorId token = input("token", {T}, Storage::i32), h = input("h", {T, D});
  input("like", {V});
  Expr v = index("v", V), d = index("d", D), t = index("t", T);
  define("dtable", {v, d}, Combine::sum, {t}, ir::is_zero(v - read(token, {t})), read(h, {t, d}));
  Expr v2 = index("v", V), d2 = index("d", D), t2 = index("t", T);
  define("dmax", {v2, d2}, Combine::max, {t2}, ir::is_zero(v2 - read(token, {t2})),
         read(h, {t2, d2}));
  give("token", {4}, {1, 0, 1, 7});
  give("h", {4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  give("like", {3}, {0, 0, 0});
  EXPECT_EQ(value("dtable"), (Values{3, 4, 6, 8, 0, 0}));
  EXPECT_EQ(value("dmax"), (Values{3, 4, 5, 6, kLowest, kLowest}));
}

TEST_F(Evaluate, DiagonalsAndPackedPlaces) {
  Poly T = size("T"), H = size("H"), E = size("E");
  TensorId s = input("s", {T, T}), z = input("z", {H, E});
  // dr[n] = sum[i,j where n == i - j + T - 1] s[i,j]
  Expr n = index("n", T * Poly(2) - Poly(1)), i = index("i", T), j = index("j", T);
  define("dr", {n}, Combine::sum, {i, j}, ir::is_zero(n - (i - j + S(T) - 1)), read(s, {i, j}));
  // d[m] = sum[h,e where m == h*E + e] z[h,e]
  Expr m = index("m", H * E), h = index("h", H), e = index("e", E);
  define("d", {m}, Combine::sum, {h, e}, ir::is_zero(h * S(E) + e - m), read(z, {h, e}));
  // x[k] = prod[h where k == h*2] h + 5.5
  Expr k = index("k", Poly(6)), h2 = index("h", H);
  define("x", {k}, Combine::prod, {h2}, ir::is_zero(k - 2 * h2), h2 + 5.5);
  give("s", {2, 2}, {1, 2, 3, 4});
  give("z", {2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(value("dr"), (Values{2, 5, 3}));
  EXPECT_EQ(value("d"), (Values{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(value("x"), (Values{5.5, 1, 6.5, 1, 1, 1}));
}

TEST_F(Evaluate, WholeNumbersDivideDownwards) {
  Expr i = index("i", Poly(5));
  define("q", {i}, Combine::set, {}, always, ir::quotient(i - 3, 2), Storage::i32);
  Expr i2 = index("i", Poly(5));
  define("r", {i2}, Combine::set, {}, always, ir::remainder(i2 - 3, 2), Storage::i32);
  EXPECT_EQ(value("q"), (Values{-2, -1, -1, 0, 0}));
  EXPECT_EQ(value("r"), (Values{1, 0, 1, 0, 1}));
}

TEST_F(Evaluate, SizesAreReadAndChecked) {
  Poly T = size("T"), K = size("K"), B = size("B");
  g.sizes[2].upper = 3;
  TensorId x = input("x", {B, T}), r = input("r", {T * Poly(2) + K});
  Expr b = index("b", B), t = index("t", T), k = index("k", K);
  define("y", {b, t}, read(x, {b, t}) + read(r, {t}));
  define("w", {k}, read(r, {k + S(T) * 2}));
  give("x", {2, 4}, std::vector<double>(8));
  give("r", {11}, std::vector<double>(11));
  EXPECT_EQ(read_sizes(g, given), (std::vector<int64_t>{4, 3, 2}));
  auto message = [&] {
    try {
      read_sizes(g, given);
    } catch (const CallError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  give("r", {7}, std::vector<double>(7));
  EXPECT_EQ(message(), "r: dimension 1 is 7, which fits no value of K (T = 4 by dimension 2 of x)");
  give("x", {4, 1}, std::vector<double>(4));
  EXPECT_EQ(message(), "size B is 4, but must be at most 3");
  give("x", {4}, std::vector<double>(4));
  EXPECT_EQ(message(), "x has 2 dimensions, but 1 was given");
  given.erase("x");
  EXPECT_EQ(message(), "size T cannot be read from the tensors given");
}

TEST_F(Evaluate, ExtentsMustAgree) {
  Poly T = size("T");
  TensorId x = input("x", {T}), y = input("y", {T});
  Expr i = index("i", T);
  define("z", {i}, read(x, {i}) + read(y, {i}));
  give("x", {2}, {1, 2});
  give("y", {3}, {1, 2, 3});
  try {
    value("z");
    FAIL();
  } catch (const CallError& e) {
    EXPECT_STREQ(e.what(), "y: dimension 1 is 3, but should be 2 (T = 2 by dimension 1 of x)");
  }
  given.erase("y");
  EXPECT_THROW(value("z"), CallError);
}

TEST_F(Evaluate, NegativeExtentsCountAsZero) {
  Poly T = size("T");
  TensorId x = input("x", {T});
  Expr i = index("i", T - Poly(2));
  define("y", {i}, read(x, {i + 2}) - read(x, {i}));
  give("x", {1}, {5});
  EXPECT_EQ(value("y"), (Values{}));
  give("x", {4}, {1, 2, 4, 8});
  EXPECT_EQ(value("y"), (Values{3, 6}));
}

// The last element does not depend on k, and is there wherever there is a k.
TEST_F(Evaluate, ReadsNothingBeforeAnEmptyLoop) {
  Poly B = size("B"), T = size("T");
  TensorId u = input("u", {B, T});
  Expr i = index("i", B), k = index("k", T), m = index("m", B), n = index("n", T);
  define("y", {i, k}, read(u, {i, S(T - Poly(1))}));
  define("z", {m}, Combine::sum, {n}, always, read(u, {m, S(T - Poly(1))}));
  give("u", {2, 0}, {});
  EXPECT_EQ(value("y"), (Values{}));
  EXPECT_EQ(value("z"), (Values{0, 0}));
}

TEST_F(Evaluate, IsFastEnoughForTheChecks) {
  Poly N = size("N");
  TensorId a = input("a", {N, N}), b = input("b", {N, N});
  Expr i = index("i", N), j = index("j", N), k = index("k", N);
  define("c", {i, j}, Combine::sum, {k}, always,
         read(a, {i, k}) * read(b, {k, j}) + 0.5 * read(a, {k, i}));
  constexpr int64_t n = 128;
  give("a", {n, n}, std::vector<double>(n * n, 1));
  give("b", {n, n}, std::vector<double>(n * n, 2));
  std::clock_t start = std::clock();
  EXPECT_EQ(value("c")[7], 2.5 * n);
  double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  double rate = 4.0 * n * n * n / seconds;
  RecordProperty("operations_per_second", static_cast<int>(rate / 1e6));
  EXPECT_GT(rate, 2e6);  // 50 M on a quiet machine; sanitizers and neighbours take their share
}

}  // namespace
}  // namespace attn::evaluate
