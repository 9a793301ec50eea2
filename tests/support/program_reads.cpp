// A subscript is in range by its range, by the condition beside it, or by a clamp.
#include "tests/support/program_reads.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::testing {

Axis Reads::axis(const std::string& extent) {
  static const std::vector<std::string> kNames = {"i", "j", "k", "l", "m", "n", "o",
                                                  "p", "q", "r", "s", "u", "v", "w"};
  const size_t n = next_index_++;
  std::string name = kNames[n % kNames.size()];
  // Tensors have digits in their names.
  for (size_t k = kNames.size(); k <= n; k += kNames.size()) name += kNames[n % kNames.size()];
  return {name, extent};
}

std::string Reads::bound(const Axis& a) {
  if (alone_.count(a.index) && !elsewhere_.count(a.index) && chance(70)) return a.index;
  return fmt::format("{}: {}", a.index, a.extent);
}

const Axis* Reads::one_of(const Axes& axes, const std::string& extent) {
  std::vector<const Axis*> fitting;
  for (const Axis& a : axes)
    if (a.extent == extent) fitting.push_back(&a);
  return fitting.empty() ? nullptr : of(fitting);
}

void Reads::declare_input(const std::string& name, const std::string& type) {
  inputs_.emplace(name, type);
}

// ---- reading

// A subscript that is more than an index.
std::optional<std::string> Reads::computed(const std::string& extent, const Axes& axes) {
  const auto size = known_.find(extent);
  const int64_t n = size == known_.end() ? 0 : size->second;
  const Axis *a = one_of(axes, extent), *c = one_of(axes, extent);
  const Axis *b = one_of(axes, "B"), *t = one_of(axes, "T");
  switch (below(9)) {
    case 0:
      if (n < 3 || !b || !t) break;
      declare_input("kind", "int[B, T]");
      return fmt::format("kind[{},{}]", b->index, t->index);
    case 1:
      if (n >= 1) return fmt::format("{}", below(static_cast<int>(n)));
      break;
    case 2:
      if (n >= 3 && t && a) return fmt::format("clamp({} - {}, -1, 1) + 1", t->index, a->index);
      break;
    case 3:
    case 4:
      if (a) return permuted(*this, known_, a->index, extent, 1 + below(3));
      break;
    case 5:
      if (a && c && a != c)
        return fmt::format("{}({}, {})", chance(50) ? "min" : "max", a->index, c->index);
      if (a) return folded(*this, a->index, extent);
      break;
    case 6:
      if (n >= 2 && t) return fmt::format("{} % 2", t->index);
      break;
    case 7:
      return clamped(extent, axes);
    default:
      return mapped(extent, axes);
  }
  return std::nullopt;
}

bool Reads::is_present(const std::string& extent) const {
  return present_.count(extent) || known_.count(extent);
}

// Any index, number or datum, of a size that is there.
std::optional<std::string> Reads::clamped(const std::string& extent, const Axes& axes) {
  if (!is_present(extent)) return std::nullopt;
  const Axis* t = one_of(axes, "T");
  std::string at = fmt::format("{}", below(4));
  if (t && chance(50)) {
    declare_input("tok", "int[T]");
    at = fmt::format("tok[{}]", t->index);
  } else if (!axes.empty() && chance(70)) {
    at = fmt::format("{} + {}", of(axes).index, below(3) - 1);
  }
  return fmt::format("clamp({}, 0, {} - 1)", at, extent);
}

// From two axes to the range of their product, and back.
std::optional<std::string> Reads::mapped(const std::string& extent, const Axes& axes) {
  std::optional<std::string> text;
  if (const Axis* f = one_of(axes, "N * M"); f && (extent == "N" || extent == "M")) {
    const std::string at = permuted(*this, known_, f->index, "N * M", below(3));
    text = fmt::format("{} {} M", operand(at), extent == "N" ? "//" : "%");
  }
  const Axis *u = one_of(axes, "N"), *v = one_of(axes, "M");
  if (extent == "N * M" && u && v)
    text =
        permuted(*this, known_, fmt::format("{} * M + {}", u->index, v->index), extent, below(2));
  return text;
}

std::optional<std::string> Reads::subscript(const std::string& extent, const Axes& axes,
                                            bool plain) {
  const Axis* a = one_of(axes, extent);
  if (!plain && (!a || chance(12)))
    if (auto text = computed(extent, axes)) return text;
  if (!a) return std::nullopt;
  alone_.insert(a->index);
  return a->index;
}

std::optional<std::string> Reads::read(const Pooled& tensor, const Axes& axes, bool plain) {
  const std::set<std::string> alone = alone_;
  std::string list;
  for (size_t k = 0; k < tensor.extents.size(); ++k) {
    std::optional<std::string> s;
    if (static_cast<int>(k) == tensor.step)
      s = tensor.before ? back_ : "t";
    else
      s = subscript(tensor.extents[k], axes, plain);
    if (!s) {
      alone_ = alone;
      return std::nullopt;
    }
    list += (list.empty() ? "" : ",") + *s;
  }
  if (tensor.before) {
    // What is defined by itself does not say what its indices run over.
    alone_ = alone;
    carried_.insert(tensor.name);
  }
  return list.empty() ? tensor.name : fmt::format("{}[{}]", tensor.name, list);
}

std::string Reads::raw(const Axes& axes) {
  std::vector<const Pooled*> given;
  for (const Pooled& p : pool_)
    if (p.given) given.push_back(&p);
  for (int k = 0; k < 8; ++k)
    if (auto text = read(*of(given), axes, true)) return *text;
  return "scalar";
}

Value Reads::number(const Axes& axes) {
  if (chance(25)) return {integer(axes), 2};
  if (!axes.empty() && chance(60)) return {fmt::format("{} * 0.0625", of(axes).index), 1};
  static const std::vector<std::string> kNumbers = {"0.25", "0.5", "0.75", "1.5"};
  return {of(kNumbers), 1.5};
}

// Integer data in arithmetic.
std::string Reads::integer(const Axes& axes) {
  const Axis *b = one_of(axes, "B"), *t = one_of(axes, "T");
  if (!t) return "1";
  declare_input(b ? "kind" : "tok", b ? "int[B, T]" : "int[T]");
  const std::string datum =
      b ? fmt::format("kind[{},{}]", b->index, t->index) : fmt::format("tok[{}]", t->index);
  return fmt::format("float({} {})", datum, chance(50) ? "- 1" : "% 2");
}

Value Reads::leaf(const Axes& axes) {
  if (chance(8)) return number(axes);
  if (chance(12)) return guarded(axes);
  for (int k = 0; k < 8; ++k) {
    // The latest tensors are preferred: chains are what derivatives go through.
    const int n = static_cast<int>(pool_.size());
    const int at = chance(60) ? n - 1 - below(std::min(4, n)) : below(n);
    const Pooled& tensor = pool_[static_cast<size_t>(at)];
    if (auto text = read(tensor, axes, false)) return scaled({*text, tensor.bound});
  }
  return {raw(axes), 1};
}

Value Reads::scaled(Value v) {
  double factor = 1;
  for (; v.bound > 3; v.bound /= 2) factor /= 2;
  if (factor < 1) v.text = fmt::format("{} * {}", v.text, factor);
  return v;
}

// if 0 < i then y[.., i - 1, ..] else something
Value Reads::shifted(const Axes& axes) {
  const Value otherwise = leaf(axes);
  for (int k = 0; k < 6 && !axes.empty(); ++k) {
    const Axis a = of(axes);
    const Pooled& tensor = of(pool_);
    if (std::count(tensor.extents.begin(), tensor.extents.end(), a.extent) != 1) continue;
    const int by = 1 + below(2);
    const bool down = chance(50);
    Axes moved = axes;
    for (Axis& m : moved)
      if (m.index == a.index) m.index = fmt::format("{} {} {}", a.index, down ? "-" : "+", by);
    // Names that are no index do no harm among those that stand alone.
    const auto text = read(tensor, moved, true);
    if (!text) continue;
    const std::string inside = down ? fmt::format("{} >= {}", a.index, by)
                                    : fmt::format("{} + {} < {}", a.index, by, a.extent);
    return scaled({fmt::format("(if {} then {} else {})", inside, *text, otherwise.text),
                   std::max(tensor.bound, otherwise.bound)});
  }
  return otherwise;
}

Reads::Guarded Reads::guarded_subscript(const std::string& extent, const Axis& a) {
  const std::string& i = a.index;
  elsewhere_.insert(i);
  const int by = 1 + below(2);
  switch (below(6)) {
    case 0:
      return {fmt::format("{} + {}", i, by), fmt::format("{} + {} < {}", i, by, extent)};
    case 1:
      return {fmt::format("{} - {}", i, by), fmt::format("0 <= {} - {} < {}", i, by, extent)};
    case 2:
      return {fmt::format("{}", by - 1), fmt::format("{} < {}", by - 1, extent)};
    case 3:
      return {fmt::format("{} - 1 - {}", extent, i), fmt::format("{} < {}", i, extent)};
    default:
      return {i, a.extent == extent ? "" : fmt::format("{} < {}", i, extent)};
  }
}

Value Reads::guarded(const Axes& axes) {
  const Pooled& tensor = of(pool_);
  if (axes.empty() || tensor.extents.empty() || tensor.before || tensor.step >= 0)
    return {raw(axes), 1};
  const bool diagonal = chance(60);
  const Axis one = of(axes);
  std::string list, conditions;
  for (const std::string& extent : tensor.extents) {
    const Guarded s = guarded_subscript(extent, diagonal ? one : of(axes));
    list += (list.empty() ? "" : ",") + s.text;
    if (!s.condition.empty()) conditions += (conditions.empty() ? "" : " and ") + s.condition;
  }
  const std::string text = fmt::format("{}[{}]", tensor.name, list);
  if (conditions.empty()) return scaled({text, tensor.bound});
  return scaled(
      {fmt::format("(if {} then {} else {})", conditions, text, chance(70) ? "0" : raw(axes)),
       std::max(tensor.bound, 1.0)});
}

}  // namespace attn::testing
