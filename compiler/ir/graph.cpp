#include "compiler/ir/graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace attn::ir {

Type arithmetic_type(Storage s) {
  switch (s) {
    case Storage::boolean:
      return Type::boolean;
    case Storage::i32:
      return Type::integer;
    case Storage::f16:
    case Storage::bf16:
    case Storage::f32:
      return Type::f32;
    case Storage::f64:
      return Type::f64;
  }
  throw InternalError("a storage without a type of arithmetic");
}

std::string_view name_of(Storage s) {
  constexpr std::string_view names[] = {"bool", "int", "f16", "bf16", "f32", "f64"};
  return names[static_cast<int>(s)];
}

std::string_view name_of(Combine c) {
  constexpr std::string_view names[] = {"set", "sum", "max", "min", "prod", "logsumexp", "argmax"};
  return names[static_cast<int>(c)];
}

IndexId Graph::new_index(std::string index_name, Poly extent) {
  indices.push_back({std::move(index_name), std::move(extent)});
  return {static_cast<int32_t>(indices.size()) - 1};
}

TensorId Graph::new_tensor(Tensor tensor) {
  std::string base = tensor.name;
  for (int k = 2; find(tensor.name); ++k) tensor.name = fmt::format("{}.{}", base, k);
  tensors.push_back(std::move(tensor));
  return {static_cast<int32_t>(tensors.size()) - 1};
}

TensorId Graph::new_part(TensorId of, const std::string& suffix, Storage storage,
                         std::vector<Poly> part_extents) {
  Tensor part = (*this)[of];
  part.name += suffix;
  part.role = Role::interior;
  part.storage = storage;
  part.extents = std::move(part_extents);
  return new_tensor(std::move(part));
}

std::vector<TensorId> Graph::tensor_ids() const {
  std::vector<TensorId> result;
  for (size_t k = 0; k < tensors.size(); ++k) result.push_back({static_cast<int32_t>(k)});
  return result;
}

std::optional<TensorId> Graph::find(std::string_view wanted) const {
  for (size_t k = 0; k < tensors.size(); ++k)
    if (tensors[k].name == wanted) return TensorId{static_cast<int32_t>(k)};
  return std::nullopt;
}

std::optional<SizeId> Graph::find_size(std::string_view wanted) const {
  for (size_t k = 0; k < sizes.size(); ++k)
    if (sizes[k].name == wanted) return SizeId{static_cast<int32_t>(k)};
  return std::nullopt;
}

const Definition* Graph::definition_of(TensorId id) const {
  for (const Definition& d : definitions)
    if (d.target == id) return &d;
  return nullptr;
}

bool Graph::is_output(TensorId id) const {
  return std::ranges::any_of(outputs, [&](const Output& o) { return o.tensor == id; });
}

const Output* Graph::update_of(TensorId state) const {
  const auto found = std::ranges::find(outputs, state, &Output::updates);
  return found == outputs.end() ? nullptr : &*found;
}

TensorId Graph::updated_by(TensorId id) const {
  const auto found = std::ranges::find(outputs, id, &Output::tensor);
  return found == outputs.end() ? TensorId{} : found->updates;
}

std::vector<Poly> Graph::extents(const std::vector<IndexId>& of) const {
  std::vector<Poly> result;
  for (IndexId i : of) result.push_back((*this)[i].extent);
  return result;
}

Expr Graph::read(TensorId tensor, std::vector<Expr> subscripts) const {
  return ir::read(tensor, arithmetic_type((*this)[tensor].storage), std::move(subscripts));
}

Expr Graph::target(const Definition& d) const { return read(d.target, index_values(d.free)); }

Poly Graph::expand(const Poly& p) const {
  std::map<SizeId, Poly> values;
  for (const auto& [monomial, c] : p.terms()) {
    for (auto [id, n] : monomial) {
      const Size& s = (*this)[id];
      if (s.value)
        values[id] = Poly(*s.value);
      else if (s.definition)
        values[id] = expand(*s.definition);
    }
  }
  return values.empty() ? p : ir::substitute(p, values);
}

bool Graph::same(const Poly& a, const Poly& b) const { return a == b || expand(a) == expand(b); }

std::optional<int64_t> Graph::known(const Poly& p) const { return expand(p).integer(); }

int64_t Graph::value(const Poly& p, const std::vector<int64_t>& values) const {
  Rational sum;
  for (const auto& [monomial, c] : p.terms()) {
    Rational product = c;
    for (auto [id, n] : monomial)
      for (int k = 0; k < n; ++k) product = product * Rational{values.at(id.value), 1};
    sum = sum + product;
  }
  if (!sum.is_integer())
    throw std::invalid_argument(
        fmt::format("a size would be {}/{}, which is no integer", sum.num, sum.den));
  return sum.num;
}

void Graph::complete(std::vector<int64_t>& values) const {
  values.resize(sizes.size());
  for (size_t k = 0; k < sizes.size(); ++k) {
    const Size& s = sizes[k];
    if (s.value) {
      values[k] = *s.value;
    } else if (s.definition) {
      values[k] = value(*s.definition, values);
    } else if (s.quotient) {
      int64_t a = value(s.quotient->first, values), b = value(s.quotient->second, values);
      if (b == 0) throw std::invalid_argument(fmt::format("size {} divides by 0", s.name));
      int64_t q = a / b;
      values[k] = q - (a % b != 0 && (a < 0) != (b < 0));
    }
  }
}

std::set<TensorId> reads(const Definition& d) {
  std::set<TensorId> result = tensors(d.body);
  for (const Expr& c : d.guard) insert_all(result, tensors(c));
  for (const Expr& p : d.position) insert_all(result, tensors(p));
  return result;
}

bool reads(const Definition& d, TensorId t) {
  const auto is_in = [&](const Expr& e) { return tensors(e).count(t) > 0; };
  return is_in(d.body) || std::ranges::any_of(d.guard, is_in) ||
         std::ranges::any_of(d.position, is_in);
}

std::set<TensorId> reads(const std::vector<Definition>& definitions) {
  std::set<TensorId> result;
  for (const Definition& d : definitions) result.merge(reads(d));
  for (const Definition& d : definitions) result.erase(d.target);
  return result;
}

std::vector<Expr> read_sites(const Definition& d) {
  std::vector<Expr> result = read_sites(d.body);
  for (const Expr& c : d.guard)
    for (const Expr& read : read_sites(c)) result.push_back(read);
  for (const Expr& p : d.position)
    for (const Expr& read : read_sites(p)) result.push_back(read);
  return result;
}

std::vector<Expr> read_sites(const Definition& d, const std::set<TensorId>& of) {
  std::vector<Expr> result = read_sites(d);
  std::erase_if(result, [&](const Expr& read) { return !of.count(read->tensor); });
  return result;
}

void map_exprs(Definition& d, const std::function<Expr(const Expr&)>& f) {
  Conditions guard;
  for (const Expr& c : d.guard) guard.merge(conjuncts(f(c)));
  d.guard = std::move(guard);
  d.body = f(d.body);
  for (Expr& p : d.position) p = f(p);
}

void substitute(Definition& d, const std::map<IndexId, Expr>& values) {
  d.guard = substitute(d.guard, values);
  d.body = substitute(d.body, values);
  for (Expr& p : d.position) p = substitute(p, values);
}

Definition normal_form(Definition d) {
  if (d.combine != Combine::set && d.combine != Combine::sum) return d;
  if (!d.position.empty()) return d;
  while (d.body.is(Kind::select) && d.body.args()[2].is_zero()) {
    d.guard.merge(conjuncts(d.body.args()[0]));
    d.body = d.body.args()[1];
  }
  Expr guard = all_of(d.guard);
  if (guard.is_false()) {
    d.guard.clear();
    d.body = 0;
  } else {
    d.guard = conjuncts(guard);
  }
  return d;
}

Definition copying(Graph& g, TensorId from, TensorId to) {
  Definition d{.target = to};
  for (const Poly& extent : g[to].extents) d.free.push_back(g.new_index("i", extent));
  d.body = g.read(from, index_values(d.free));
  return d;
}

Renamed with_fresh_indices(Graph& g, const Definition& d) {
  Renamed r{d, {}};
  auto fresh = [&](std::vector<IndexId>& ids) {
    for (IndexId& i : ids) {
      Index old = g[i];
      IndexId n = g.new_index(old.name, old.extent);
      r.map.emplace(i, index_value(n));
      i = n;
    }
  };
  fresh(r.definition.free);
  fresh(r.definition.reduced);
  substitute(r.definition, r.map);
  return r;
}

Graph without_definitions(const Graph& g) {
  return {.name = g.name, .sizes = g.sizes, .indices = g.indices, .tensors = g.tensors};
}

Graph drop_unused(const Graph& g) {
  std::map<TensorId, const Definition*> by_target;
  for (const Definition& d : g.definitions) by_target.emplace(d.target, &d);
  std::set<TensorId> live;
  std::vector<TensorId> open;
  for (const Output& o : g.outputs) open.push_back(o.tensor);
  while (!open.empty()) {
    const TensorId t = open.back();
    open.pop_back();
    if (!live.insert(t).second) continue;
    if (auto d = by_target.find(t); d != by_target.end())
      for (TensorId read : reads(*d->second)) open.push_back(read);
  }
  Graph result = g;
  std::erase_if(result.definitions, [&](const Definition& d) { return !live.count(d.target); });
  return result;
}

Graph with_outputs(const Graph& g, const std::vector<Output>& outputs) {
  Graph result = g;
  result.outputs = outputs;
  for (Tensor& t : result.tensors)
    if (t.role == Role::output) t.role = Role::interior;
  for (const Output& o : outputs) result[o.tensor].role = Role::output;
  for (const Output& o : g.outputs) {
    Tensor& t = result[o.tensor];
    if (t.role == Role::interior && (t.storage == Storage::f16 || t.storage == Storage::bf16))
      t.storage = Storage::f32;
  }
  return drop_unused(result);
}

Graph without_probes(const Graph& g) {
  std::vector<Output> outputs = g.outputs;
  std::erase_if(outputs, [](const Output& o) { return o.probe; });
  return with_outputs(g, outputs);
}

}  // namespace attn::ir
