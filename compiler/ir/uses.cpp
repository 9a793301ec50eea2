#include "compiler/ir/uses.h"

#include <algorithm>

namespace attn::ir {

Uses::Uses(const Graph& g) : of_(g.tensors.size()) {
  for (size_t n = 0; n < g.definitions.size(); ++n) {
    of_[g.definitions[n].target.value].definition = n;
    add_reads(n, g.definitions[n]);
  }
}

std::optional<size_t> Uses::definition(TensorId t) const { return of_.at(t.value).definition; }

const std::vector<size_t>& Uses::readers(TensorId t) const { return of_.at(t.value).readers; }

void Uses::remove_reads(size_t n, const Definition& d) {
  for (TensorId t : reads(d)) std::erase(of_.at(t.value).readers, n);
}

void Uses::add_reads(size_t n, const Definition& d) {
  for (TensorId t : reads(d)) {
    std::vector<size_t>& readers = of_.at(t.value).readers;
    readers.insert(std::ranges::upper_bound(readers, n), n);
  }
}

}  // namespace attn::ir
