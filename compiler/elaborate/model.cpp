#include "compiler/elaborate/model.h"

#include <fmt/format.h>

#include <algorithm>

namespace attn::elaborate {
namespace {

constexpr size_t kMostDefinitions = 20'000;
constexpr int64_t kMostSteps = 1'000'000;

}  // namespace

Binding* Scope::find(const std::string& name) {
  if (auto it = names.find(name); it != names.end()) return &it->second;
  return outer ? outer->find(name) : nullptr;
}

const ir::Poly* Scope::find_size(const std::string& name) const {
  if (auto it = sizes.find(name); it != sizes.end()) return &it->second;
  return outer ? outer->find_size(name) : nullptr;
}

bool Scope::is_broken_size(const std::string& name) const {
  return broken_sizes.count(name) || (outer && outer->is_broken_size(name));
}

const std::string* Scope::full_name(const std::string& name) const {
  if (auto it = full_names.find(name); it != full_names.end()) return &it->second;
  return outer ? outer->full_name(name) : nullptr;
}

const OpenScan* Scope::scan_around() const { return scan || !outer ? scan : outer->scan_around(); }

const dsl::Type* Scope::output_type(const std::string& name) const {
  auto it = output_types.find(name);
  return it == output_types.end() ? nullptr : it->second;
}

std::vector<std::string> Scope::tensor_names() const {
  std::vector<std::string> result;
  for (const auto& [name, binding] : names)
    if (binding.kind != Binding::Kind::poisoned) result.push_back(name);
  if (outer)
    for (std::string& name : outer->tensor_names()) result.push_back(std::move(name));
  return result;
}

bool Scope::has_poisoned() const {
  for (const auto& [name, binding] : names)
    if (binding.kind == Binding::Kind::poisoned) return true;
  return outer && outer->has_poisoned();
}

std::string ordinal_dimension(int position) { return fmt::format("dimension {}", position + 1); }

std::string suggestion(const std::string& name, const std::vector<std::string>& candidates) {
  const std::string near = nearest(name, candidates);
  return near.empty() ? "" : fmt::format("did you mean `{}`?", near);
}

Diagnostic& ModelState::error(Span where, std::string message) {
  if (!reported_.emplace(where.file, where.begin, where.end, message).second) {
    discarded_ = {};
    return discarded_;
  }
  Diagnostic& d = diagnostics_.error(where, std::move(message));
  if (!function_calls.empty()) {
    const OpenCall& call = function_calls.front();
    d.others.push_back(
        {call.where, fmt::format("in this call of `{}`", call.callable->function->name.text)});
  }
  if (calls.empty()) return d;
  const OpenCall& inner = calls.back();
  const std::string& name = inner.callable->block->name.text;
  if (!(inner.where == where))
    d.others.push_back({inner.where, fmt::format("in this call of `{}`", name)});
  const OpenCall& outer = calls.front();
  if (outer.where.file != inner.where.file)
    d.others.push_back(
        {outer.where, fmt::format("in this call of `{}`", outer.callable->block->name.text)});
  return d;
}

Diagnostic& ModelState::warning(Span where, std::string category, std::string message) {
  if (!reported_.emplace(where.file, where.begin, where.end, message).second) {
    discarded_ = {};
    return discarded_;
  }
  return diagnostics_.warning(where, std::move(category), std::move(message));
}

Diagnostic& ModelState::limit(Span where, std::string message) {
  return diagnostics_.limit(where, std::move(message));
}

void ModelState::report_without_subscripts(Span where, const std::string& name,
                                           const ir::Tensor& t) {
  Diagnostic& d = error(where, fmt::format("`{}` needs {} subscript{}", name, t.extents.size(),
                                           t.extents.size() > 1 ? "s" : ""));
  d.primary.text = fmt::format("`{}` is {}", name, shape(t));
  d.others.push_back({t.where, "declared here"});
  d.help = one_element(name, t);
}

std::string ModelState::one_element(const std::string& name, const ir::Tensor& t) const {
  return fmt::format(
      "a formula says what one element is: `{}[{}]`", name,
      std::string("i, j, k, l, m, n").substr(0, 3 * std::min<size_t>(6, t.extents.size()) - 2));
}

std::string ModelState::fresh_name(const std::string& base) const {
  std::string name = base;
  for (int k = 2; names_.count(name); ++k) name = fmt::format("{}.{}", base, k);
  return name;
}

ir::TensorId ModelState::new_tensor(ir::Tensor tensor) {
  tensor.name = fresh_name(tensor.name);
  names_.insert(tensor.name);
  graph.tensors.push_back(std::move(tensor));
  return {static_cast<int32_t>(graph.tensors.size()) - 1};
}

void ModelState::rename(ir::TensorId id, const std::string& name) {
  names_.erase(graph[id].name);
  graph[id].name = fresh_name(name);
  names_.insert(graph[id].name);
}

void ModelState::add_definition(ir::Definition d) {
  if (graph.definitions.size() >= kMostDefinitions)
    throw LimitError(fmt::format("model `{}` has more than {} definitions when it is expanded",
                                 graph.name, kMostDefinitions));
  graph.definitions.push_back(ir::normal_form(std::move(d)));
}

void ModelState::count_step() {
  if (++steps_ > kMostSteps)
    throw LimitError(
        fmt::format("model `{}` has more than {} parts when its blocks and functions are expanded",
                    graph.name, kMostSteps));
}

std::string ModelState::text(const ir::Poly& p) const {
  if (p.terms().empty()) return "0";
  // Greater degrees first, constants last, as one writes them.
  auto terms = p.terms();
  auto degree = [](const ir::Monomial& m) {
    int sum = 0;
    for (auto [size, power] : m) sum += power;
    return sum;
  };
  std::stable_sort(terms.begin(), terms.end(), [&](const auto& a, const auto& b) {
    const bool minus_a = ir::sign(a.second) < 0, minus_b = ir::sign(b.second) < 0;
    if (a.first.empty() != b.first.empty()) return b.first.empty();
    if (minus_a != minus_b) return minus_b;
    return degree(a.first) > degree(b.first);
  });
  const auto name_of = [&](ir::SizeId id) -> const std::string& {
    const auto own = block_sizes_.find(id);
    return own == block_sizes_.end() ? graph[id].name : own->second.name;
  };
  std::string out;
  for (const auto& [monomial, coefficient] : terms) {
    const bool minus = ir::sign(coefficient) < 0;
    out += out.empty() ? (minus ? "-" : "") : (minus ? " - " : " + ");
    const int64_t num = minus ? -coefficient.num : coefficient.num;
    std::string product;
    if (num != 1 || monomial.empty()) product = std::to_string(num);
    for (auto [size, power] : monomial)
      for (int k = 0; k < power; ++k) product += (product.empty() ? "" : "*") + name_of(size);
    if (coefficient.den != 1) product += "/" + std::to_string(coefficient.den);
    out += product;
  }
  return out;
}

std::string ModelState::with_value(const ir::Poly& p) const {
  const auto n = graph.known(p);
  return n && !p.constant() ? fmt::format("{} = {}", text(p), *n) : text(p);
}

std::string ModelState::shape(const ir::Tensor& t) const {
  std::string out = "[";
  for (size_t k = 0; k < t.extents.size(); ++k) out += (k ? ", " : "") + text(t.extents[k]);
  return out + "]";
}

}  // namespace attn::elaborate
