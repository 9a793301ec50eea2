// The one form of a program from source to kernel: a list of definitions in index notation.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/base/check.h"
#include "compiler/base/diagnostic.h"
#include "compiler/ir/expr.h"

namespace attn::ir {

struct Size {
  std::string name;
  std::optional<int64_t> value;  // known when compiling
  int64_t lower = 0;             // checked at each call
  std::optional<int64_t> upper;
  std::optional<Poly> definition;                 // `size E = D / H`: equal to this
  std::optional<std::pair<Poly, Poly>> quotient;  // `size P = T // 2`: floor(first / second)
  std::string doc;
  Span where;
};

// Runs over 0 .. extent - 1. Each definition has indices of its own.
struct Index {
  std::string name;
  Poly extent;
};

// How a tensor is stored.
enum class Storage : uint8_t { boolean, i32, f16, bf16, f32, f64 };
constexpr size_t kStorages = static_cast<size_t>(Storage::f64) + 1;
Type arithmetic_type(Storage s);
std::string_view name_of(Storage s);

enum class Role : uint8_t { input, parameter, cotangent, tangent, interior, output };
// In the caller's memory before the call.
inline bool is_argument(Role r) { return r <= Role::tangent; }
// Such an argument of a derivative.
inline bool is_derivative(Role r) { return r == Role::cotangent || r == Role::tangent; }

struct Initialiser {
  enum class Kind { automatic, zeros, ones, constant, normal, uniform, xavier, orthogonal };
  Kind kind = Kind::automatic;
  double a = 0, b = 0;
};

struct Tensor {
  std::string name;  // unique in the graph
  Storage storage = Storage::f32;
  std::vector<Poly> extents;
  Role role = Role::interior;
  // Stored as two planes, the maximum and the logarithm of the rest, along a new outermost
  // dimension of extent 2; its value is their sum. Log-sum-exps are, once planned.
  bool split = false;
  // Of a cotangent, tangent, gradient or product: the tensor of the model that it belongs to.
  TensorId companion_of;
  Initialiser init;         // of a parameter
  std::string weight_name;  // of a parameter in a weight file; empty: its name
  std::string doc;
  Span where;
};

enum class Combine : uint8_t { set, sum, max, min, prod, logsumexp, argmax };
std::string_view name_of(Combine c);

// target[free...] is the combination, over all values of `reduced` for which every condition of
// `guard` holds, of `body`. A set reduces nothing; set and sum are 0 outside their guard. Over
// nothing: sum 0, prod 1, max and logsumexp -3.4028235e38, min 3.4028235e38, argmax 0.
struct Definition {
  TensorId target;
  std::vector<IndexId> free;  // one per dimension of target, all different
  Combine combine = Combine::set;
  std::vector<IndexId> reduced;
  Conditions guard;
  Expr body;
  Span where;
  // Of a set that is stored at these places of what a state was: target[position...] = body where
  // the guard holds, for all free indices, of which no two values give one place. One subscript per
  // dimension of target, of which each index is one, or is a term of one; elsewhere, and where the
  // guard fails, the target is what it updates (Output). Empty: at the free indices.
  std::vector<Expr> position;

  // The same ids; where it was written does not count. ir/key.h compares up to names.
  bool operator==(const Definition& d) const {
    return target == d.target && combine == d.combine && free == d.free && reduced == d.reduced &&
           body == d.body && guard == d.guard && position == d.position;
  }
};

// What a weight file calls a parameter.
inline const std::string& weight_name(const Tensor& t) {
  return t.weight_name.empty() ? t.name : t.weight_name;
}

struct Output {
  std::string name;
  TensorId tensor;
  bool probe = false;  // computed only for those who ask
  TensorId updates;    // of a state: the input whose place it takes in the caller's memory
};

struct Graph {
  std::string name;  // of the model
  std::vector<Size> sizes;
  std::vector<Index> indices;
  std::vector<Tensor> tensors;
  // Each reads only what stands before it, save in recurrences (ir/recurrence.h).
  std::vector<Definition> definitions;
  std::vector<Output> outputs;

  const Size& operator[](SizeId id) const { return sizes.at(id.value); }
  const Index& operator[](IndexId id) const { return indices.at(id.value); }
  const Tensor& operator[](TensorId id) const { return tensors.at(id.value); }
  Size& operator[](SizeId id) { return sizes.at(id.value); }
  Index& operator[](IndexId id) { return indices.at(id.value); }
  Tensor& operator[](TensorId id) { return tensors.at(id.value); }

  IndexId new_index(std::string name, Poly extent);
  // A fresh name is made from `tensor.name` when that is taken.
  TensorId new_tensor(Tensor tensor);
  // An interior tensor that holds a part of another, or the same in another way: NAME.suffix.
  TensorId new_part(TensorId of, const std::string& suffix, Storage storage,
                    std::vector<Poly> extents);
  std::vector<TensorId> tensor_ids() const;  // in order
  std::optional<TensorId> find(std::string_view name) const;
  std::optional<SizeId> find_size(std::string_view name) const;
  // The definition of a tensor, or null for inputs and parameters.
  const Definition* definition_of(TensorId id) const;
  bool is_output(TensorId id) const;
  // The output that takes the place of a state in memory, or null.
  const Output* update_of(TensorId state) const;
  // What such an output updates; invalid for other tensors.
  TensorId updated_by(TensorId id) const;
  std::vector<Poly> extents(const std::vector<IndexId>& of) const;

  Expr read(TensorId tensor, std::vector<Expr> subscripts) const;
  // target[free...] of a definition, as an expression.
  Expr target(const Definition& d) const;

  // Replaces known and defined sizes until only free run-time sizes and quotients are left.
  Poly expand(const Poly& p) const;
  bool same(const Poly& a, const Poly& b) const;  // equal after expand
  // The value when it is known at compile time.
  std::optional<int64_t> known(const Poly& p) const;
  // Run-time value: `values[i]` of sizes[i] (free sizes given, the others computed).
  // A negative value of an extent counts as 0 where it is used as an extent.
  int64_t value(const Poly& p, const std::vector<int64_t>& values) const;
  // Completes `values` for known, defined and quotient sizes from the free ones.
  void complete(std::vector<int64_t>& values) const;
};

// All tensors that a definition reads, in body, guard and position.
std::set<TensorId> reads(const Definition& d);
bool reads(const Definition& d, TensorId t);
// Those that definitions read and none of them computes.
std::set<TensorId> reads(const std::vector<Definition>& definitions);
// The reads themselves, those of the body first; of these tensors alone.
std::vector<Expr> read_sites(const Definition& d);
std::vector<Expr> read_sites(const Definition& d, const std::set<TensorId>& of);
// Replaces the body, each condition and the position by what f makes of it.
void map_exprs(Definition& d, const std::function<Expr(const Expr&)>& f);
// In body, guard and position.
void substitute(Definition& d, const std::map<IndexId, Expr>& values);
// Hoists a select over 0 at the top of a set or sum body into the guard; a body that is never
// reached becomes 0. Every definition in a graph is in this form; one with a position is as it is.
Definition normal_form(Definition d);
// to[i, ..] = from[i, ..]: of the same extents.
Definition copying(Graph& g, TensorId from, TensorId to);
// A copy with fresh indices for everything bound, for placing one definition inside another.
struct Renamed {
  Definition definition;
  std::map<IndexId, Expr> map;
};
Renamed with_fresh_indices(Graph& g, const Definition& d);

// Sizes, indices and tensors with their ids, and nothing that is computed.
Graph without_definitions(const Graph& g);

// Drops definitions that no output reads; tensors keep their ids.
Graph drop_unused(const Graph& g);

// Computes these alone. What was an output is an interior tensor then, which 16 bits do not round.
Graph with_outputs(const Graph& g, const std::vector<Output>& outputs);
// The outputs that every caller gets.
Graph without_probes(const Graph& g);

// Throws InternalError naming `pass` where the graph breaks a promise: a read before its
// definition, a recurrence that does not step, subscripts that do not fit a tensor's rank, an
// unbound index, a target defined twice, an extent of a free index that differs from its tensor's,
// a body of the wrong type, a node not in normal form.
void verify(const Graph& g, std::string_view pass);
// The same of the definitions and outputs of `g`, before which `given` are there and nothing else.
// Looks at no other tensor.
void verify_part(const Graph& g, const std::set<TensorId>& given, std::string_view pass);

}  // namespace attn::ir
