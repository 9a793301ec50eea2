#include <algorithm>

#include "promises.h"

namespace attn::testing {
namespace {

using namespace ir;
using plan::ContractionForm;
using plan::LoopsForm;
using plan::Plan;
using plan::RowForm;

// `e` with all reads of `t` at 0.
Expr read_at_zero(const Graph& g, const Expr& e, TensorId t) {
  return rewrite(e, [&](const Expr& x) {
    return x.is(Kind::read) && x->tensor == t
               ? g.read(t, std::vector<Expr>(x.args().size(), Expr(0)))
               : x;
  });
}

// Backward: a product of matrices, and what is added to it where the data says.
constexpr const char* kTied = R"(
size T, V, D
train model tied(token: int[T]) -> z {
  param table: [V, D]
  x[t,d] = table[token[t], d]
  z[t,v] = sum[d] tanh(x[t,d]) * table[v,d]
}
)";

// A sum of few planes.
constexpr const char* kMixed = R"(
size T, H = 4
model mixed(x: [H, T]) -> y {
  param w: [H, H]
  y[g,t] = sum[h] w[g,h] * x[h,t]
}
)";

constexpr const char* kRunning = R"(
size T, D
model running(x: [T, D]) -> y {
  y[i: T,d] = sum[j: T where j <= i] x[j,d]
}
)";

LoopsForm& started(Plan& p) {
  for (plan::Kernel& k : p.backward->kernels)
    if (auto* loops = std::get_if<LoopsForm>(&k.form); loops && loops->start) return *loops;
  throw std::invalid_argument("the plan has no sum that starts from something");
}

// What the last definition of a row kernel reads of the first, it reads at row 0.
void read_another_row(plan::Function& f) {
  plan::Kernel& k = kernel<RowForm>(f);
  std::vector<Definition>& definitions = std::get<RowForm>(k.form).definitions;
  const TensorId first = definitions.front().target, last = definitions.back().target;
  for (auto* list : {&k.definitions, &definitions})
    for (Definition& d : *list)
      if (d.target == last) d.body = read_at_zero(f.graph, d.body, first);
}

// A map that reads the last definition, a sum of columns.
void read_sum_of_columns(plan::Function& f) {
  auto& row = form<RowForm>(f);
  const Definition sum = row.definitions.back();
  auto map = std::find_if(row.definitions.begin(), row.definitions.end(), [](const Definition& d) {
    return d.free.size() == 2 && d.combine == Combine::set;
  });
  Definition reader = *map;
  reader.body = reader.body + f.graph.target(sum);
  row.definitions.push_back(reader);
}

plan::Groups& groups_of_terms(plan::Function& f) {
  for (plan::Kernel& k : f.kernels)
    if (auto* c = std::get_if<ContractionForm>(&k.form); c && c->groups && !c->groups->of_rows())
      return *c->groups;
  throw std::invalid_argument("the plan has no groups of terms");
}

}  // namespace

std::vector<Promise> kernel_promises() {
  return {
      // Kernels of any form.
      {"a result that was not claimed", kGate,
       [](Plan& p) {
         auto& k = kernel<LoopsForm>(p.forward);
         k.writes.push_back(k.reads[0]);
       }},
      {"a read of what comes later", kNorm,
       [](Plan& p) {
         auto& definitions = form<RowForm>(p.forward).definitions;
         std::reverse(definitions.begin(), definitions.end());
       }},
      {"a state that changes where it is still read", kState,
       [](Plan& p) {
         const TensorId total = *p.forward.graph.find("total");
         for (plan::Kernel& k : p.forward.kernels) {
           if (!std::ranges::count(k.reads, total)) continue;
           auto& d = std::get<LoopsForm>(k.form).definition;
           map_exprs(d, [&](const Expr& e) {
             return rewrite(e, [&](const Expr& x) {
               return x.is(Kind::read) && x->tensor == total ? read(total, x.type(), {Expr(0)}) : x;
             });
           });
           k.definitions[0] = d;
         }
       }},
      {"a kernel without results", kGate,
       [](Plan& p) { kernel<LoopsForm>(p.forward).writes.clear(); }},
      {"an argument twice, or reads out of order", kGate,
       [](Plan& p) {
         auto& reads = kernel<ContractionForm>(p.forward).reads;
         std::reverse(reads.begin(), reads.end());
       }},
      {"results in another order than the form's", kNorm,
       [](Plan& p) {
         auto& writes = kernel<RowForm>(p.forward).writes;
         std::reverse(writes.begin(), writes.end());
       }},
      {"a size twice", kGate,
       [](Plan& p) {
         auto& sizes = kernel<LoopsForm>(p.forward).sizes;
         sizes.push_back(sizes[0]);
       }},
      {"a size that it does not take", kGate,
       [](Plan& p) { kernel<LoopsForm>(p.forward).sizes.pop_back(); }},
      {"a tensor, an index or a size that does not exist", kGate,
       [](Plan& p) { kernel<LoopsForm>(p.forward).reads.push_back(TensorId{999}); }},

      // Loops.
      {"another number of definitions than was claimed", kGate,
       [](Plan& p) {
         auto& definitions = kernel<LoopsForm>(p.forward).definitions;
         definitions.push_back(definitions[0]);
       }},
      {"another definition than was claimed", kGate,
       [](Plan& p) {
         auto& d = form<LoopsForm>(p.forward).definition;
         d.body = d.body + Expr(1);
       }},

      {"a start of something else than a sum", kTied,
       [](Plan& p) { started(p).definition.combine = ir::Combine::max; }},
      {"another definition than was claimed", kTied,
       [](Plan& p) { started(p).start = *started(p).start + Expr(1); }},

      {"results together that are no planes of a sum", kMixed,
       [](Plan& p) {
         auto& mixed = form<LoopsForm>(p.forward);
         mixed.together = mixed.definition.reduced[0];
       }},

      {"a running sum along an index that it is not summed along", kRunning,
       [](Plan& p) {
         auto& running = form<LoopsForm>(p.forward);
         running.along = running.definition.free[1];
       }},

      // Rows.
      {"an index twice among rows or columns", kNorm,
       [](Plan& p) {
         auto& rows = form<RowForm>(p.forward).rows;
         rows.push_back(rows[0]);
       }},
      {"a column among the rows", kNorm,
       [](Plan& p) {
         auto& row = form<RowForm>(p.forward);
         row.columns.push_back(row.rows[0]);
       }},
      {"a definition over other indices than rows and columns", kNorm,
       [](Plan& p) { form<RowForm>(p.forward).columns.clear(); }},
      {"a sum of columns that is read", kNorm, [](Plan& p) { read_sum_of_columns(*p.backward); }},
      {"another number of definitions than was claimed", kNorm,
       [](Plan& p) { kernel<RowForm>(p.forward).definitions.pop_back(); }},
      {"a read of another row", kNorm, [](Plan& p) { read_another_row(p.forward); }},

      // Contractions.
      {"free indices that are not divided into batch, rows and columns", kGate,
       [](Plan& p) { form<ContractionForm>(p.forward).rows.pop_back(); }},
      {"a group of indices in another order than the target's", kGate,
       [](Plan& p) {
         auto& rows = form<ContractionForm>(p.forward).rows;
         std::reverse(rows.begin(), rows.end());
       }},
      {"no product", kGate, [](Plan& p) { form<ContractionForm>(p.forward).products.clear(); }},
      {"a factor over an index of the other", kGate,
       [](Plan& p) {
         auto& product = form<ContractionForm>(p.forward).products[0];
         std::swap(product.left, product.right);
       }},
      {"other results than the target and what is kept", kGate,
       [](Plan& p) {
         auto& k = kernel<ContractionForm>(p.forward);
         k.writes.push_back(k.reads[0]);
       }},
      {"an epilogue that does not read the sum at its point", kGate,
       [](Plan& p) { form<ContractionForm>(p.forward).epilogue = Expr(1.0); }},
      {"a group that is no integer", kPicked,
       [](Plan& p) { form<ContractionForm>(p.forward).groups->of = Expr(0.5); }},
      {"a group of something else than rows or terms", kPicked,
       [](Plan& p) {
         auto& contraction = form<ContractionForm>(p.forward);
         contraction.groups->of = index_value(contraction.columns[0]);
       }},
      {"another number of groups than there are", kPicked,
       [](Plan& p) { form<ContractionForm>(p.forward).groups->count = 2; }},
      {"another number of groups than there are", kPicked,
       [](Plan& p) { groups_of_terms(*p.backward).count = 2; }},
      {"a factor over an index of the other", kPicked,
       [](Plan& p) { form<ContractionForm>(p.forward).groups.reset(); }},
      {"free indices that are not divided into batch, rows and columns", kPicked,
       [](Plan& p) { groups_of_terms(*p.backward).index = {}; }},
  };
}

}  // namespace attn::testing
