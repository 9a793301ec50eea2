#include "compiler/plan/term_blocks.h"

#include <algorithm>
#include <optional>

#include "compiler/ir/recurrence.h"
#include "compiler/ir/uses.h"
#include "compiler/plan/blocks.h"

namespace attn::plan {

using namespace ir;

namespace {

class Finder {
 public:
  Finder(const Graph& g, const solve::Unmaterialised& unmaterialised, const Rolling& rolling,
         const target::Costs& costs)
      : g_(g),
        unmaterialised_(unmaterialised),
        rolling_(rolling),
        costs_(costs),
        recurrences_(g),
        uses_(g) {}

  // `taken`: what other blocks have.
  std::optional<TermBlocks> find(const Definition& d, const std::set<TensorId>& taken) const {
    if (d.combine != Combine::sum || !can_be_in_loop(d) || taken.count(d.target)) return {};
    for (IndexId i : d.reduced) {
      const std::optional<int64_t> block = block_of(g_[i].extent);
      if (!block || !is_gathered(d, i)) continue;
      TermBlocks blocks{.sum = d.target, .terms = i, .block = *block};
      if (subscripts_alone(d, i, blocks.given) && find_own(taken, blocks)) return blocks;
    }
    return {};
  }

 private:
  // The least of equal parts of so many terms or more, of whole cache lines; none where there are
  // no two such parts. (A shorter last one would be another kernel.)
  std::optional<int64_t> block_of(const Poly& extent) const {
    constexpr int64_t kLines = 64;
    const auto count = g_.known(extent);
    if (!count || costs_.least_block == 0) return {};
    for (int64_t block = (costs_.least_block + kLines - 1) / kLines * kLines; block <= *count / 2;
         block += kLines)
      if (*count % block == 0) return block;
    return {};
  }

  bool can_be_in_loop(const Definition& d) const {
    const TensorId t = d.target;
    const std::set<TensorId> read = reads(d);
    return d.position.empty() && !g_.updated_by(t).valid() && !unmaterialised_(t) && !g_[t].split &&
           !recurrences_.steps(t) && !rolling_.joined.count(t) && !rolling_.summed.count(t) &&
           !rolling_.before.count(t) &&
           std::ranges::none_of(read, [&](TensorId of) { return g_.update_of(of) != nullptr; });
  }

  bool can_be_cut(TensorId t) const {
    return !unmaterialised_(t) && !g_[t].split && !rolling_.rolled.count(t);
  }

  // Whether data says which part of what is read at the terms a result takes.
  static bool is_gathered(const Definition& d, IndexId terms) {
    return std::ranges::any_of(read_sites(d), [&](const Expr& site) {
      return std::ranges::count(site.args(), index_value(terms)) > 0 &&
             std::ranges::any_of(site.args(), [](const Expr& at) { return !tensors(at).empty(); });
    });
  }

  // Moves what is computed for the sum alone from what is given; whether some of it is a sum, which
  // is stored, and everything is read at the terms.
  bool find_own(const std::set<TensorId>& taken, TermBlocks& blocks) const {
    std::set<size_t> places = {*uses_.definition(blocks.sum)};
    bool has_sum = false;
    for (size_t k = *places.begin(); k-- > 0;) {
      const Definition& d = g_.definitions[k];
      const auto at = blocks.given.find(d.target);
      if (at == blocks.given.end() || at->second >= d.free.size() || taken.count(d.target) ||
          (d.combine != Combine::set && d.combine != Combine::sum) || g_.is_output(d.target) ||
          !can_be_in_loop(d) || !std::ranges::all_of(uses_.readers(d.target), [&](size_t reader) {
            return places.count(reader) > 0;
          }))
        continue;
      std::map<TensorId, size_t> given = blocks.given;
      if (!subscripts_alone(d, d.free[at->second], given)) continue;
      blocks.own.insert(*at);
      given.erase(d.target);
      blocks.given = std::move(given);
      places.insert(k);
      has_sum = has_sum || d.combine == Combine::sum;
    }
    return has_sum && std::ranges::all_of(places, [&](size_t k) {
             return reads_at_terms(g_.definitions[k], blocks);
           });
  }

  bool reads_at_terms(const Definition& d, const TermBlocks& blocks) const {
    const auto own = blocks.own.find(d.target);
    const Expr terms = index_value(own == blocks.own.end() ? blocks.terms : d.free[own->second]);
    return std::ranges::all_of(read_sites(d), [&](const Expr& site) {
      for (const auto* list : {&blocks.own, &blocks.given})
        if (const auto at = list->find(site->tensor); at != list->end())
          return site.args()[at->second] == terms && can_be_cut(site->tensor);
      return true;
    });
  }

  const Graph& g_;
  const solve::Unmaterialised& unmaterialised_;
  const Rolling& rolling_;
  const target::Costs& costs_;
  const Needs recurrences_;
  const Uses uses_;
};

// Puts what is computed for a sum alone right before it.
void put_together(Graph& g, const TermBlocks& blocks) {
  const auto sum = std::ranges::find(g.definitions, blocks.sum, &Definition::target);
  std::stable_partition(g.definitions.begin(), sum,
                        [&](const Definition& d) { return !blocks.own.count(d.target); });
}

}  // namespace

std::vector<TermBlocks> block_terms(Graph& g, const solve::Unmaterialised& unmaterialised,
                                    const Rolling& rolling, const target::Costs& costs) {
  std::vector<TermBlocks> result;
  std::set<TensorId> taken;
  const std::vector<Definition> all = g.definitions;
  std::optional<Finder> finder;
  for (const Definition& d : all) {
    if (!finder) finder.emplace(g, unmaterialised, rolling, costs);
    const auto blocks = finder->find(d, taken);
    if (!blocks) continue;
    put_together(g, *blocks);
    finder.reset();
    taken.insert(blocks->sum);
    for (const auto& [t, dimension] : blocks->own) taken.insert(t);
    result.push_back(*blocks);
  }
  return result;
}

}  // namespace attn::plan
