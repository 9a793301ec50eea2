#include "compiler/plan/order.h"

#include <algorithm>

#include "compiler/base/check.h"
#include "compiler/plan/estimate.h"
#include "compiler/plan/plan.h"

namespace attn::plan {

using namespace ir;

namespace {

class Order {
 public:
  Order(const Graph& g, const std::vector<Claimed>& kernels, const std::set<TensorId>& wanted)
      : g_(g), wanted_(wanted) {
    for (const auto& [at, kernel] : kernels) {
      Node node{.read = reads(kernel.definitions), .written = results_of(kernel.form)};
      for (const Definition& d : kernel.definitions) node.read.erase(d.target);
      pending_.insert(node.written.begin(), node.written.end());
      for (TensorId t : node.read) ++readers_[t];
      left_.push_back(std::move(node));
    }
    for (size_t n = 0; n < left_.size(); ++n) left_[n].at = n;
  }

  // The positions of the kernels as they run.
  std::vector<size_t> run() {
    std::vector<size_t> result;
    while (!left_.empty()) {
      const auto next = choose();
      for (TensorId t : next->read) --readers_[t];
      for (TensorId t : next->written) pending_.erase(t);
      result.push_back(next->at);
      left_.erase(next);
    }
    return result;
  }

 private:
  struct Node {
    std::set<TensorId> read;
    std::vector<TensorId> written;
    size_t at = 0;
  };

  std::vector<Node>::const_iterator choose() const {
    auto first = left_.end(), best = left_.end();
    double least = 0;
    for (auto node = left_.begin(); node != left_.end(); ++node) {
      if (!is_ready(*node)) continue;
      if (first == left_.end()) first = node;
      const double growth = growth_by(*node);
      if (growth > 0 || (best != left_.end() && growth >= least)) continue;
      best = node;
      least = growth;
    }
    ATTN_CHECK(first != left_.end(), "kernels that wait for each other");
    return best != left_.end() ? best : first;
  }

  bool is_ready(const Node& node) const {
    return std::ranges::none_of(node.read, [&](TensorId t) { return pending_.count(t) > 0; });
  }

  // Bytes in the workspace after the kernel, less those before.
  double growth_by(const Node& node) const {
    double sum = 0;
    for (TensorId t : node.written) sum += readers_.count(t) ? bytes(t) : 0;
    for (TensorId t : node.read)
      if (readers_.at(t) == 1) sum -= bytes(t);
    return sum;
  }

  double bytes(TensorId t) const {
    if (is_argument(g_[t].role) || g_.is_output(t) || wanted_.count(t)) return 0;
    return estimate(g_, elements(g_, t)) * element_bytes(g_[t].storage);
  }

  const Graph& g_;
  const std::set<TensorId>& wanted_;
  std::vector<Node> left_;           // that have not run
  std::set<TensorId> pending_;       // which they write
  std::map<TensorId, int> readers_;  // how many of them read a tensor
};

// A kernel that changes a state runs after those that read it.
bool changes_states(const Graph& g) {
  return std::ranges::any_of(g.outputs, [](const Output& o) { return o.updates.valid(); });
}

}  // namespace

std::vector<Claimed> in_order(const Graph& g, std::vector<Claimed> kernels,
                              const std::set<TensorId>& wanted) {
  if (changes_states(g)) return kernels;
  std::vector<Claimed> result;
  for (size_t n : Order(g, kernels, wanted).run()) result.push_back(std::move(kernels[n]));
  return result;
}

}  // namespace attn::plan
