#include "compiler/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/evaluate/program.h"
#include "compiler/ir/recurrence.h"
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

class Evaluation {
 public:
  Evaluation(const ir::Graph& g, const Arrays& given)
      : g_(g), sizes_(read_sizes(g, given)), storage_(g.tensors.size()) {
    for (size_t k = 0; k < g.tensors.size(); ++k) {
      const ir::Tensor& t = g.tensors[k];
      auto it = given.find(t.name);
      if (!ir::is_argument(t.role) || it == given.end()) continue;
      check_values(t, it->second);
      storage_[k] = {it->second.extents, it->second.values.data()};
      if (!storage_[k].data) {
        static const double kNothing = std::numeric_limits<double>::quiet_NaN();
        storage_[k].data = &kNothing;  // an empty array: no element is ever read
      }
    }
  }

  Arrays run() {
    const std::vector<ir::Definition> definitions = g_.definitions;
    const std::vector<ir::Recurrence> recurrences = ir::recurrences(g_);
    auto next = recurrences.begin();
    for (size_t k = 0; k < definitions.size(); ++k) {
      if (next != recurrences.end() && next->first == k) {
        run_steps(*next, definitions);
        k = next++->end() - 1;
      } else {
        run(definitions[k]);
      }
    }
    return std::move(results_);
  }

 private:
  void run(const ir::Definition& d) {
    check_reads(d);
    Array array = allocated(d);
    ir::Definition solved = solve::solve_equalities(g_, d);
    Program program = compile(g_, solved, sizes_, storage_);
    if (d.position.empty()) {
      evaluate::run(g_, solved, program, array.values);
    } else {
      keep_state(d, array);
      run_step(g_, solved, program, array.values, 0);
    }
    keep(d, std::move(array));
  }

  void run_steps(const ir::Recurrence& r, const std::vector<ir::Definition>& all) {
    std::vector<ir::Definition> solved;
    std::vector<ir::IndexId> steps;
    for (size_t k = r.first; k < r.end(); ++k) {
      Array array = allocated(all[k]);
      clear(g_, all[k], array.values);
      keep(all[k], std::move(array));
      solved.push_back(solve::solve_equalities(g_, all[k]));
      steps.push_back(all[k].free[r.step[k - r.first]]);
    }
    std::vector<Program> programs;
    for (size_t n = 0; n < solved.size(); ++n) {
      check_reads(all[r.first + n]);
      programs.push_back(compile(g_, solved[n], sizes_, storage_, steps[n]));
    }
    const int64_t count = g_.value(g_[steps[0]].extent, sizes_);
    for (int64_t done = 0; done < count; ++done)
      for (size_t n = 0; n < solved.size(); ++n)
        run_step(g_, solved[n], programs[n], results_[g_[solved[n].target].name].values,
                 r.down ? count - 1 - done : done);
  }

  // Elsewhere a state is what it was.
  void keep_state(const ir::Definition& d, Array& array) const {
    const ir::TensorId state = g_.updated_by(d.target);
    const double* from = storage_[state.value].data;
    if (!from) throw CallError(fmt::format("{} is missing", g_[state].name));
    std::copy_n(from, array.values.size(), array.values.begin());
  }

  void check_reads(const ir::Definition& d) const {
    for (ir::TensorId id : ir::reads(d)) {
      if (!storage_[id.value].data)
        throw CallError(fmt::format("{} is missing: {} reads it", g_[id].name, g_[d.target].name));
    }
  }

  Array allocated(const ir::Definition& d) const {
    const ir::Tensor& t = g_[d.target];
    Array array{.extents = extents_of(g_, t, sizes_), .values = {}};
    // One element more, so that an empty tensor has an address too.
    const int64_t n = count(array.extents, t.name);
    array.values.reserve(static_cast<size_t>(n) + 1);
    array.values.resize(static_cast<size_t>(n));
    return array;
  }

  void keep(const ir::Definition& d, Array array) {
    const Array& kept = results_[g_[d.target].name] = std::move(array);
    storage_[d.target.value] = {kept.extents, kept.values.data()};
  }

  ir::Graph g_;  // solving equalities makes indices
  std::vector<int64_t> sizes_;
  std::vector<Storage> storage_;
  Arrays results_;
};

}  // namespace

Arrays evaluate(const ir::Graph& g, const Arrays& given) { return Evaluation(g, given).run(); }

}  // namespace attn::evaluate
