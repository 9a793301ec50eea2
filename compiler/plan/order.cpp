#include "compiler/plan/order.h"

#include <algorithm>
#include <map>
#include <optional>

#include "compiler/base/check.h"
#include "compiler/plan/estimate.h"
#include "compiler/plan/function.h"
#include "compiler/plan/peak.h"
#include "compiler/plan/result_blocks.h"
#include "compiler/solve/points.h"

namespace attn::plan {

using namespace ir;

namespace {

class Order {
 public:
  Order(const Graph& g, const Costs& costs, const std::vector<Claimed>& kernels,
        const std::set<TensorId>& wanted, const std::set<TensorId>& saved)
      : g_(g), costs_(costs), wanted_(wanted), saved_(saved) {
    for (const auto& [at, kernel] : kernels) {
      Node node{
          .kernel = &kernel, .read = reads(kernel.definitions), .written = results_of(kernel.form)};
      for (const Definition& d : kernel.definitions) node.read.erase(d.target);
      for (TensorId t : node.read) readers_[t].push_back(nodes_.size());
      nodes_.push_back(std::move(node));
    }
    for (Node& node : nodes_) {
      // Of what a row kernel computes, what only it reads is not stored.
      std::erase_if(node.written, [&](TensorId t) { return readers_[t].empty() && !is_kept(t); });
      for (TensorId t : node.written)
        for (size_t n : readers_[t]) ++nodes_[n].awaited;
    }
    for (const auto& [t, some] : readers_) {
      left_[t] = some.size();
      bytes_[t] = bytes(t);
    }
    for (size_t n = 0; n < nodes_.size(); ++n)
      if (nodes_[n].awaited == 0) ready_.insert(n);
  }

  // The positions of the kernels as they run.
  std::vector<size_t> run() {
    std::vector<size_t> result;
    while (result.size() < nodes_.size()) {
      const size_t next = choose();
      ready_.erase(next);
      for (TensorId t : nodes_[next].read) --left_[t];
      for (TensorId t : nodes_[next].written)
        for (size_t n : readers_[t])
          if (--nodes_[n].awaited == 0) ready_.insert(n);
      result.push_back(next);
    }
    delay(result);
    // Backward takes saved tensors. How much memory it needs with them depends on when its results
    // are written, whose memory holds other tensors until then.
    if (!saved_.empty()) lower(result);
    return result;
  }

 private:
  struct Node {
    const Kernel* kernel;
    std::set<TensorId> read;
    std::vector<TensorId> written;
    int awaited = 0;  // of what it reads, the tensors that are not yet written
  };

  bool is_kept(TensorId t) const { return g_.is_output(t) || wanted_.count(t) > 0; }

  void lower(std::vector<size_t>& order) const {
    std::vector<solve::Points> scales;
    for (int n : kScales) scales.emplace_back(g_, n);
    std::map<TensorId, size_t> numbers;
    std::vector<Stored> tensors;
    const auto number = [&](TensorId t) {
      const auto [at, is_new] = numbers.emplace(t, tensors.size());
      if (is_new) tensors.push_back(stored(t, scales));
      return at->second;
    };
    std::vector<Access> accesses;
    for (const Node& node : nodes_) {
      Access access{.sums_groups = sums_groups(*node.kernel)};
      for (TensorId t : node.written) access.writes.push_back(number(t));
      for (TensorId t : node.read) {
        if (is_argument(g_[t].role) && !saved_.count(t)) continue;
        access.reads.push_back(number(t));
        if (!node.written.empty() &&
            writes_over(g_, node.kernel->form, node.written, node.written[0], t))
          access.over.push_back(number(t));
      }
      if (const auto cut = cut_of(g_, *node.kernel, costs_))
        for (TensorId t : cut->computed) access.halved.push_back(number(t));
      accesses.push_back(std::move(access));
    }
    lower_peak(accesses, tensors, order);
  }

  // What it counts as at each of the scales.
  Stored stored(TensorId t, const std::vector<solve::Points>& scales) const {
    Stored result{.is_argument = is_argument(g_[t].role), .is_kept = is_kept(t)};
    for (size_t k = 0; k < kScales.size(); ++k)
      result.bytes[k] = scales[k].of(elements(g_, t)) * element_bytes(g_[t].storage);
    return result;
  }

  size_t choose() const {
    ATTN_CHECK(!ready_.empty(), "kernels that wait for each other");
    std::optional<size_t> best;
    double least = 0;
    for (size_t n : ready_) {
      const double growth = growth_by(nodes_[n]);
      if (growth > 0 || (best && growth >= least)) continue;
      best = n;
      least = growth;
    }
    return best.value_or(*ready_.begin());
  }

  // Bytes in the workspace after the kernel, less those before.
  double growth_by(const Node& node) const {
    double sum = 0;
    for (TensorId t : node.written) sum += readers_.at(t).empty() ? 0 : bytes_.at(t);
    for (TensorId t : node.read)
      if (left_.at(t) == 1) sum -= bytes_.at(t);
    return sum;
  }

  // Puts a kernel that needs more memory than it ends the use of just before its first reader.
  void delay(std::vector<size_t>& order) const {
    std::vector<size_t> at(order.size());
    for (size_t k = 0; k < order.size(); ++k) at[order[k]] = k;
    for (size_t k = order.size(); k-- > 0;) {
      const Node& node = nodes_[order[k]];
      size_t first = order.size();
      double growth = 0;
      for (TensorId t : node.written) {
        for (size_t n : readers_.at(t)) first = std::min(first, at[n]);
        growth += bytes_.at(t);
      }
      if (first == order.size() || first == k + 1) continue;
      for (TensorId t : node.read)
        if (std::ranges::all_of(readers_.at(t), [&](size_t n) { return at[n] < first; }))
          growth -= bytes_.at(t);
      if (growth <= 0) continue;
      std::rotate(order.begin() + k, order.begin() + k + 1, order.begin() + first);
      for (size_t n = k; n < first; ++n) at[order[n]] = n;
    }
  }

  double bytes(TensorId t) const {
    const bool is_held = is_argument(g_[t].role) || g_.is_output(t) || wanted_.count(t);
    if (is_held && !saved_.count(t)) return 0;
    const double all = estimate(g_, elements(g_, t)) * element_bytes(g_[t].storage);
    // What is saved ends in one of two kinds of calls.
    return is_held ? all / 2 : all;
  }

  const Graph& g_;
  const Costs& costs_;
  const std::set<TensorId>&wanted_, &saved_;
  std::vector<Node> nodes_;
  std::set<size_t> ready_;                           // those that can run next
  std::map<TensorId, std::vector<size_t>> readers_;  // of what is read or written
  std::map<TensorId, size_t> left_;                  // how many of them have not run
  std::map<TensorId, double> bytes_;
};

// A kernel that changes a state runs after those that read it.
bool changes_states(const Graph& g) {
  return std::ranges::any_of(g.outputs, [](const Output& o) { return o.updates.valid(); });
}

}  // namespace

std::vector<Claimed> in_order(const Graph& g, const Costs& costs, std::vector<Claimed> kernels,
                              const std::set<TensorId>& wanted, const std::set<TensorId>& saved) {
  if (changes_states(g)) return kernels;
  std::vector<Claimed> result;
  for (size_t n : Order(g, costs, kernels, wanted, saved).run())
    result.push_back(std::move(kernels[n]));
  return result;
}

}  // namespace attn::plan
