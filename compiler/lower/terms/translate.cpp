#include "compiler/lower/terms/translate.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "compiler/base/check.h"
#include "compiler/ir/operation.h"
#include "compiler/lower/terms/linear_index.h"
#include "compiler/lower/terms/vector_math.h"
#include "compiler/solve/out_of_sum.h"
#include "compiler/solve/prove.h"

namespace attn::lower {

using ir::Kind;

Type arithmetic_type(ir::Type t) {
  const Type by_type[] = {Halide::Bool(), Halide::Int(32), Halide::Float(32), Halide::Float(64)};
  return by_type[static_cast<size_t>(t)];
}

Type computed_type(ir::Storage s) { return arithmetic_type(ir::arithmetic_type(s)); }

// A truth value is a byte in memory.
Type storage_type(ir::Storage s) {
  const Type by_storage[] = {Halide::Bool(),     Halide::Int(32),   Halide::Float(16),
                             Halide::BFloat(16), Halide::Float(32), Halide::Float(64)};
  static_assert(std::size(by_storage) == ir::kStorages);
  return by_storage[static_cast<size_t>(s)];
}

Expr Translator::poly(const ir::Poly& p, const Type& type) {
  ir::Poly expanded = g_.expand(p);
  int64_t common = 1;
  for (const auto& [monomial, c] : expanded.terms()) common = std::lcm(common, c.den);
  const auto number = [&](int64_t n) { return make_const(type, n); };
  Expr sum = number(0);
  for (const auto& [monomial, c] : expanded.terms()) {
    Expr product = number(c.num * (common / c.den));
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) product = product * cast(type, arguments_.sizes.at(size));
    sum = sum + product;
  }
  return simplify(common == 1 ? sum : sum / number(common));
}

Expr Translator::extent(const ir::Poly& p) {
  if (auto n = g_.known(p)) return static_cast<int32_t>(std::max<int64_t>(*n, 0));
  Expr e = poly(p);
  return solve::nonnegative(g_, p) ? e : max(e, 0);
}

Expr Translator::condition(const ir::Conditions& c) {
  Expr all;
  for (const ir::Expr& e : c) all = all.defined() ? all && (*this)(e) : (*this)(e);
  return all.defined() ? all : const_true();
}

Expr Translator::where(const ir::Conditions& c, const Expr& value, const Expr& otherwise) {
  if (c.empty()) return value;
  return choose(tensors(c).empty(), condition(c), value,
                otherwise.defined() ? otherwise : make_zero(value.type()));
}

Expr Translator::scaled(const Expr& sum, const ir::Expr& scale) {
  const auto times = [&](const ir::Expr& factor) {
    if (factor.is_one()) return sum;
    const Expr product = sum * cast<float>((*this)(factor));
    return solve::is_finite(g_, factor) ? product : select(sum == 0.0f, 0.0f, product);
  };
  const bool hides = scale.is(Kind::select) && scale.args()[2].is_zero();
  return hides ? where(ir::conjuncts(scale.args()[0]), times(scale.args()[1])) : times(scale);
}

Expr Translator::choose(bool affine, const Expr& condition, const Expr& a, const Expr& b) {
  if (!chooses_by_bits_ && (affine || !decoded_))
    return select(condition, beside(b, a), beside(a, b));
  const Type byte = Halide::UInt(8);
  return a.type().is_bool() ? masked(condition, cast(byte, a), cast(byte, b)) != cast(byte, 0)
                            : masked(condition, a, b);
}

Expr hidden_data(const Expr& value) {
  using Halide::Internal::Call;
  return Call::make(value.type(), kDataCall, {value}, Call::Extern);
}

Expr hidden_place(const Expr& value) {
  using Halide::Internal::Call;
  return Call::make(value.type(), kDataCall, {value}, Call::PureExtern);
}

Expr Translator::operator()(const ir::Expr& e) {
  if (auto it = done_.find(e); it != done_.end()) return it->second;
  Expr result = build(e);
  if (arguments_.hides_data && result.type().is_bool() && !tensors(e).empty())
    result = hidden_data(result);
  done_.emplace(e, result);
  return result;
}

namespace {

// i == j + c or i == c: Halide writes the right side for i, and loses the range of i.
bool equates_indices(const ir::Expr& condition) {
  if (!condition.is(Kind::is_zero)) return false;
  const ir::Expr& difference = condition.args()[0];
  for (const ir::Expr& term : ir::addends_of(difference)) {
    const ir::Scaled s = ir::split_coefficient(term);
    const bool is_index = s.rest.is(Kind::index) && std::abs(s.coefficient.value()) == 1;
    if (!is_index && !ir::indices(term).empty()) return false;
  }
  return ir::tensors(difference).empty();
}

}  // namespace

void Translator::bound_by(const ir::Conditions& c, const std::vector<ir::IndexId>& loops) {
  bounded_ = bounded_ || !c.empty();
  for (const ir::Expr& e : c) {
    for (ir::IndexId i : loops)
      if (uses(e, i)) cut_.insert(i);
    if (equates_indices(e)) ir::insert_all(cut_, indices(e));
  }
}

Type Translator::type_of(const ir::Expr& e) const {
  Type type = arithmetic_type(e.type());
  return promoted_ && type.is_float() ? Halide::Float(64) : type;
}

// Constants are as precise as what they meet: sqrt(2) is f64 beside an f64 tensor.
Expr Translator::as(const Type& type, const ir::Expr& e) {
  // A product of sizes is more than an int holds.
  if (e.is(Kind::size) && type.is_float()) return cast(type, poly(e->size, Halide::Float(64)));
  if (promoted_ || type != Halide::Float(64) || e.type() != ir::Type::f32 || !tensors(e).empty())
    return cast(type, (*this)(e));
  Translator precise(g_, arguments_, indices_, decoded_);
  precise.promoted_ = true;
  precise.chooses_by_bits_ = chooses_by_bits_;
  return cast(type, precise(e));
}

Expr Translator::build(const ir::Expr& e) {
  Type type = type_of(e);
  auto arg = [&](int k) { return (*this)(e.args()[k]); };
  switch (e.kind()) {
    case Kind::literal:
      if (e.type() == ir::Type::boolean) return e.is_true() ? const_true() : const_false();
      return e->number.is_integer ? Expr(static_cast<int32_t>(e->number.integer))
                                  : make_const(Halide::Float(64), e->number.real);
    case Kind::size:
      return poly(e->size);
    case Kind::index:
      return indices_.at(e->index);
    case Kind::read:
      return read(e);
    case Kind::add:
      return add(e);
    case Kind::multiply:
      return multiply(e);
    case Kind::power:
      return power(e);
    case Kind::select: {
      Expr a = as(type, e.args()[1]), b = as(type, e.args()[2]);
      return choose(tensors(e.args()[0]).empty(), arg(0), a, b);
    }
    case Kind::quotient:
      return floor_divide(arg(0), arg(1));
    case Kind::remainder:
      return floor_remainder(arg(0), arg(1));
    case Kind::call: {
      if (!is_primitive(*e->operation)) {
        ATTN_CHECK(e->operation->expand,
                   fmt::format("`{}` has neither a form for kernels nor an expansion",
                               e->operation->name));
        return cast(type, (*this)(e->operation->expand(e.args())));
      }
      std::vector<Expr> args;
      for (size_t k = 0; k < e.args().size(); ++k) {
        bool as_result = e->operation->typing == ir::Typing::common ||
                         (e->operation->typing == ir::Typing::real && e->operation->arity >= 0);
        args.push_back(as_result && ir::is_real(e.type()) ? as(type, e.args()[k])
                                                          : arg(static_cast<int>(k)));
      }
      return primitive(*e->operation, args, type, arguments_.exp);
    }
    case Kind::at_least_zero:
      return compared(e.args()[0]) >= 0;
    case Kind::is_zero:
      return compared(e.args()[0]) == 0;
    case Kind::not_zero:
      return compared(e.args()[0]) != 0;
    case Kind::less:
    case Kind::at_most:
    case Kind::equal: {
      const ir::Expr &x = e.args()[0], &y = e.args()[1];
      const Type common = type_of(x.type() > y.type() ? x : y);
      const Expr a = as(common, x), b = as(common, y);
      return e.is(Kind::less) ? a < b : e.is(Kind::at_most) ? a <= b : a == b;
    }
    case Kind::both:
    case Kind::either: {
      Expr all = arg(0);
      for (size_t k = 1; k < e.args().size(); ++k) {
        Expr next = arg(static_cast<int>(k));
        all = e.is(Kind::both) ? all && next : all || next;
      }
      return all;
    }
    case Kind::negation:
      return !arg(0);
  }
  throw InternalError("an expression of unknown kind");
}

namespace {

// Whether a quotient stands in a product: a number rounded to multiples, as D * (j // D).
bool rounds(const ir::Expr& e) {
  return ir::any_part(e, [](const ir::Expr& part) {
    return part.is(Kind::multiply) &&
           std::ranges::any_of(part.args(), [](const ir::Expr& f) { return f.is(Kind::quotient); });
  });
}

}  // namespace

// An integer that is compared with 0.
Expr Translator::compared(const ir::Expr& e) { return rounds(e) ? opaque((*this)(e)) : (*this)(e); }

// A log-sum-exp is two planes: everything else first, then the maximum, then the logarithm, in this
// order whatever the compiler would like, so that large scores keep their digits.
Expr Translator::add(const ir::Expr& e) {
  Type type = type_of(e);
  Expr sum, minus;
  std::vector<std::pair<double, ir::Expr>> split;
  for (const ir::Expr& term : e.args()) {
    ir::Scaled s = ir::split_coefficient(term);
    if (s.rest.is(Kind::read) && g_[s.rest->tensor].split && !replaced_.count(s.rest->tensor)) {
      split.push_back({s.coefficient.value(), s.rest});
      continue;
    }
    bool negative = s.coefficient.value() < 0;
    Expr value = as(type, negative ? ir::negate(term) : term);
    Expr& into = negative ? minus : sum;
    into = into.defined() ? into + value : value;
  }
  if (minus.defined()) sum = sum.defined() ? sum - minus : -minus;
  if (!sum.defined()) sum = make_zero(type);
  for (const auto& [coefficient, x] : split) {
    Expr c = make_const(type, coefficient);
    auto [high, low] = planes(x, type);
    // Both strict: with one, LLVM still adds the planes first.
    sum = strict_float(sum + c * high);
    sum = strict_float(sum + c * low);
  }
  return sum;
}

Expr Translator::multiply(const ir::Expr& e) {
  Type type = type_of(e);
  Expr above, below;
  for (const ir::Expr& f : e.args()) {
    bool inverse =
        f.is(Kind::power) && f.args()[1].is(Kind::literal) && f.args()[1]->number.value() < 0;
    Expr value = as(type, inverse ? ir::power(f, -1) : f);
    Expr& into = inverse ? below : above;
    into = into.defined() ? into * value : value;
  }
  if (!above.defined()) above = make_one(type);
  return below.defined() ? above / below : above;
}

Expr Translator::power(const ir::Expr& e) {
  Type type = type_of(e);
  Expr base = as(type, e.args()[0]);
  if (!e.args()[1].is(Kind::literal)) return vector_pow(base, as(type, e.args()[1]));
  double n = e.args()[1]->number.value();
  if (n < 0) return make_one(type) / (*this)(ir::power(e, -1));
  if (2 * n == std::floor(2 * n) && n <= 64) {
    Expr product;
    Expr square = base;
    if (n != std::floor(n)) product = sqrt(base);
    for (int k = static_cast<int>(n); k > 0; k /= 2, square = square * square)
      if (k % 2) product = product.defined() ? product * square : square;
    return product;
  }
  return vector_pow(base, make_const(type, n));
}

namespace {

// Of sums and products only, whose bounds Halide finds exactly.
bool made_of_sums(const ir::Expr& e) {
  return !ir::any_part(e, [](const ir::Expr& part) {
    return !part.is(Kind::literal) && !part.is(Kind::size) && !part.is(Kind::index) &&
           !part.is(Kind::add) && !part.is(Kind::multiply);
  });
}

bool has_remainder(const ir::Expr& e) {
  return ir::any_part(e, [](const ir::Expr& part) { return part.is(Kind::remainder); });
}

// Whether it is smaller at the next of some index.
bool falls(const ir::Expr& e) {
  return ir::any_part(e, [](const ir::Expr& part) {
    return part.is(Kind::multiply) && ir::split_coefficient(part).coefficient.value() < 0;
  });
}

// Whether it takes every second value at most, as 6 - 2*i does: Halide knows its last bits.
bool has_stride(const Expr& e) { return Halide::Internal::modulus_remainder(e).modulus != 1; }

}  // namespace

bool chooses(const ir::Expr& e) {
  return ir::any_part(
      e, [](const ir::Expr& part) { return part.is(Kind::call) || part.is(Kind::select); });
}

std::vector<Expr> Translator::subscripts(const ir::Expr& e) {
  const ir::Tensor& t = g_[e->tensor];
  ImageParam buffer = arguments_.tensors.at(e->tensor);
  std::vector<Expr> at;
  for (size_t k = e.args().size(); k-- > 0;) {
    const ir::Expr& s = e.args()[k];
    Expr value = (*this)(s), limit = extent(t.extents[k]);
    // What comes from data is bounded here even when known to be in range: Halide must see it.
    // Bounded by `buffer.dim` (WORKAROUNDS.md), as where i < 2 is a condition of the loop, and
    // Halide drops that of min(i + 2, 3).
    const std::set<ir::IndexId> used = indices(s);
    const bool cut =
        std::any_of(used.begin(), used.end(), [&](ir::IndexId i) { return cut_.count(i) > 0; });
    bool proved = !cut && !chooses(s) && tensors(s).empty() &&
                  solve::proves(g_, {}, ir::at_least_zero(s)) &&
                  solve::proves(g_, {}, ir::less(s, ir::size_value(t.extents[k])));
    if (arguments_.hides_data && !tensors(s).empty()) value = hidden_data(value);
    const bool falls_in_known = constant(limit) > 0 && falls(s);
    // Beside conditions on other indices, and of every second element or fewer, Halide drops the
    // promise below and its range.
    const bool drops = falls_in_known && (bounded_ || has_stride(value));
    const bool by_size = constant(limit) > 0 && !bounded_ && !drops;
    if (!proved || drops)
      value = clamp(value, 0, (by_size ? limit : buffer.dim(at.size()).extent()) - 1);
    else if (falls_in_known)
      // Halide fails on a vector that is read backwards from an index that it knows. (By the one
      // more its range is not exact, or the promise would go as superfluous, and with it the
      // range.)
      value = in_range(opaque(value + 1) - 1, limit);
    else if (constant(limit) <= 0 && has_remainder(s))
      // In a part of a loop that runs for large sizes only, Halide takes a promise for superfluous,
      // and asks for all remainders whatever the size.
      value = clamp(opaque(value), 0, buffer.dim(at.size()).extent() - 1);
    else if (decoded_ || !made_of_sums(s))
      value = in_range(value, limit);
    at.push_back(value);
  }
  return at;
}

std::pair<Expr, Expr> Translator::planes(const ir::Expr& e, const Type& type) {
  if (auto it = planes_.find(e->tensor); it != planes_.end()) return it->second;
  ImageParam buffer = arguments_.tensors.at(e->tensor);
  std::vector<Expr> high = subscripts(e), low = high;
  high.push_back(0);
  low.push_back(1);
  return {cast(type, buffer(high)), cast(type, buffer(low))};
}

Expr Translator::read(const ir::Expr& e) {
  if (auto it = replaced_.find(e->tensor); it != replaced_.end()) return it->second;
  const ir::Tensor& t = g_[e->tensor];
  Type type = arithmetic_type(e.type());
  if (t.split) {
    auto [high, low] = planes(e, type);
    return high + low;
  }
  ImageParam buffer = arguments_.tensors.at(e->tensor);
  std::vector<Expr> at = subscripts(e);
  return cast(type, buffer(at));
}

}  // namespace attn::lower
