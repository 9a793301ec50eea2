#include "compiler/evaluate/evaluate.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "compiler/evaluate/program.h"
#include "compiler/solve/equalities.h"

namespace attn::evaluate {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 31;  // of one tensor, 16 GiB

std::vector<int64_t> extents_of(const ir::Graph& g, const ir::Tensor& t,
                                const std::vector<int64_t>& sizes) {
  std::vector<int64_t> extents;
  for (const ir::Poly& e : t.extents) extents.push_back(std::max<int64_t>(0, g.value(e, sizes)));
  return extents;
}

int64_t count(const std::vector<int64_t>& extents, const std::string& name) {
  __int128 n = 1;
  for (int64_t e : extents) n = std::min<__int128>(n * e, kMostElements + 1);
  if (n > kMostElements)
    throw LimitError(fmt::format("{}: a tensor of more than {} elements", name, kMostElements));
  return static_cast<int64_t>(n);
}

// Whole numbers and truth values must be such; their extents were checked by read_sizes.
void check_values(const ir::Tensor& t, const Array& a) {
  if (static_cast<int64_t>(a.values.size()) != count(a.extents, t.name))
    throw CallError(fmt::format("{}: {} values do not fill its extents", t.name, a.values.size()));
  ir::Type type = ir::arithmetic_type(t.storage);
  if (ir::is_real(type)) return;
  for (double v : a.values) {
    bool good =
        type == ir::Type::boolean ? v == 0 || v == 1 : v == std::floor(v) && std::abs(v) <= 0x1p31;
    if (!good)
      throw CallError(
          fmt::format("{}: {} is no value of type {}", t.name, v, ir::name_of(t.storage)));
  }
}

}  // namespace

Arrays evaluate(const ir::Graph& given_graph, const Arrays& given) {
  ir::Graph g = given_graph;  // solving equalities makes indices
  std::vector<int64_t> sizes = read_sizes(g, given);
  std::vector<Storage> storage(g.tensors.size());
  for (size_t k = 0; k < g.tensors.size(); ++k) {
    const ir::Tensor& t = g.tensors[k];
    auto it = given.find(t.name);
    if (!ir::is_argument(t.role) || it == given.end()) continue;
    check_values(t, it->second);
    storage[k] = {it->second.extents, it->second.values.data()};
    if (!storage[k].data) {
      static const double kNothing = std::numeric_limits<double>::quiet_NaN();
      storage[k].data = &kNothing;  // an empty array: no element is ever read
    }
  }
  Arrays results;
  for (const ir::Definition& d : given_graph.definitions) {
    for (ir::TensorId id : ir::reads(d)) {
      if (!storage[id.value].data)
        throw CallError(fmt::format("{} is missing: {} reads it", g[id].name, g[d.target].name));
    }
    const ir::Tensor& t = g[d.target];
    Array& array = results[t.name];
    array.extents = extents_of(g, t, sizes);
    // One element more, so that an empty tensor has an address too.
    int64_t n = count(array.extents, t.name);
    array.values.reserve(static_cast<size_t>(n) + 1);
    array.values.resize(static_cast<size_t>(n));
    ir::Definition solved = solve::solve_equalities(g, d);
    Program program = compile(g, solved, sizes, storage);
    run(g, solved, program, array.values);
    storage[d.target.value] = {array.extents, array.values.data()};
  }
  return results;
}

}  // namespace attn::evaluate
