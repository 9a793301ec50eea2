#include "compiler/driver/unread.h"

#include <algorithm>

namespace attn::driver {
namespace {

double unread_of(const plan::Function& f, const plan::Kernel& k,
                 const std::vector<int64_t>& sizes) {
  const ir::Graph& g = f.graph;
  double bytes = 0;
  for (const ir::TensorId t : k.reads) {
    double read = 0;
    for (const ir::Definition& d : k.definitions)
      for (const ir::Expr& site : ir::read_sites(d, {t})) {
        double points = 1;
        for (const ir::IndexId i : ir::indices(site))
          points *= static_cast<double>(std::max<int64_t>(g.value(g[i].extent, sizes), 0));
        read += points;
      }
    const double whole = static_cast<double>(g.value(plan::elements(g, t), sizes));
    if (read > 0) bytes += std::max(whole - read, 0.0) * plan::element_bytes(g[t].storage);
  }
  return bytes;
}

}  // namespace

std::vector<const plan::Kernel*> kernels_of(const plan::Function& f) {
  std::vector<const plan::Kernel*> all;
  for (const auto* list : {&f.checks, &f.kernels})
    for (const plan::Kernel& k : *list) all.push_back(&k);
  return all;
}

std::vector<double> unread_bytes(const plan::Function& f, const std::vector<int64_t>& sizes) {
  std::vector<double> result;
  for (const plan::Kernel& k : f.checks) result.push_back(unread_of(f, k, sizes));
  // Of the steps of a recurrence each has its part, which is counted as it is.
  for (size_t n = 0; n < f.kernels.size(); ++n)
    result.push_back(plan::loop_of(f, n) ? 0 : unread_of(f, f.kernels[n], sizes));
  return result;
}

}  // namespace attn::driver
