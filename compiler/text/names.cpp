// Names for the indices of one definition: their own, told apart where two are alike.
#include <algorithm>
#include <cctype>
#include <string_view>

#include "compiler/text/writer.h"

namespace attn::text {
namespace {

constexpr std::string_view kReserved[] = {
    "if",  "then", "else", "and",  "or",   "not",    "where",   "inside",    "true",
    "sum", "max",  "min",  "mean", "prod", "argmax", "softmax", "logsumexp", "false"};

// A name that the language takes: its letters, digits and underscores.
std::string identifier(const std::string& name) {
  std::string result;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') result += c;
  if (result.empty() || std::isdigit(static_cast<unsigned char>(result[0]))) result = "n" + result;
  return result;
}

}  // namespace

Context::Context(const ir::Graph& graph) : g(graph), derived(graph.tensors.size()) {
  taken.insert(std::begin(kReserved), std::end(kReserved));
  for (const ir::Tensor& t : g.tensors) taken.insert(t.name);
  for (const ir::Size& s : g.sizes) taken.insert(s.name);
  for (size_t k = 0; k < g.tensors.size(); ++k) derived[k] = ir::is_derivative(g.tensors[k].role);
  for (const ir::Definition& d : g.definitions)
    for (ir::TensorId t : ir::reads(d))
      if (derived[t.value]) derived[d.target.value] = true;
}

Writer::Writer(const Context& context, const ir::Definition* d, const Step& step)
    : context_(context), d_(d) {
  if (!d) return;
  std::vector<ir::IndexId> order = d->free;
  order.insert(order.end(), d->reduced.begin(), d->reduced.end());
  std::set<std::string> used;
  if (step.index.valid()) used.insert(step.name);
  for (ir::IndexId i : order) {
    positions_.emplace(i, static_cast<int>(positions_.size()));
    if (i == step.index) {
      names_.emplace(i, step.name);
      continue;
    }
    const std::string own = identifier(context.g[i].name);
    std::string chosen = own;
    const std::string stem = own.substr(0, own.find_last_not_of("0123456789") + 1);
    for (int k = 2; context.taken.count(chosen) || used.count(chosen); ++k)
      chosen = stem + std::to_string(k);
    used.insert(chosen);
    names_.emplace(i, std::move(chosen));
  }
}

std::string Writer::name(ir::IndexId index) const {
  auto it = names_.find(index);
  return it != names_.end() ? it->second : identifier(context_.g[index].name);
}

int Writer::position(ir::IndexId index) const {
  auto it = positions_.find(index);
  return it == positions_.end() ? index.value : it->second;
}

}  // namespace attn::text
