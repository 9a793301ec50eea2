#include <algorithm>

#include "promises.h"

namespace attn::testing {
namespace {

using namespace ir;
using plan::Plan;
using plan::Tile;
using plan::TileResult;
using plan::TilesForm;

// Backward scatters the scores' cotangent into dtable.
constexpr const char* kRelative = R"(
size T, E, R = 8
train model relative(q: [T, E], k: [T, E], v: [T, E]) -> z {
  param table: [R]
  s[i,j] = (sum[e] q[i,e] * k[j,e]) + table[clamp(i - j, 0, R - 1)]
  p[i,j] = softmax[j] (s[i,j])
  z[i,e] = sum[j] p[i,j] * v[j,e]
}
)";

constexpr const char* kBatch = R"(
size B, T, E
model attend(q: [B, T, E], k: [B, T, E], v: [B, T, E]) -> z {
  p[b,i,j] = softmax[j] (sum[e] q[b,i,e] * k[b,j,e])
  z[b,i,e] = sum[j] p[b,i,j] * v[b,j,e]
}
)";

TilesForm& streaming(Plan& p) { return form<TilesForm>(p.forward); }
TilesForm& tiles(Plan& p, size_t n = 0) { return form<TilesForm>(*p.backward, n); }

TileResult& scattered(Plan& p) {
  for (size_t n = 0;; ++n)
    for (TileResult& r : tiles(p, n).results)
      if (r.kind == TileResult::Kind::scatter) return r;
}

Expr new_index(Graph& g) { return index_value(g.new_index("other", Poly(1))); }

// The second tile reads the first one transposed.
void read_transposed(TilesForm& form) {
  const Tile& first = form.tiles[0];
  const std::map<IndexId, Expr> turned = {{form.row, index_value(form.column)},
                                          {form.column, index_value(form.row)}};
  Expr& value = form.tiles[1].value;
  value = rewrite(value, [&](const Expr& x) {
    return x.is(Kind::read) && x->tensor == first.tensor ? substitute(x, turned) : x;
  });
}

}  // namespace

std::vector<Promise> tile_promises() {
  return {
      {"a definition that was not claimed", kAttend,
       [](Plan& p) {
         const TensorId tile = tiles(p).tiles[0].tensor;
         std::erase_if(kernel<TilesForm>(*p.backward).definitions,
                       [&](const Definition& d) { return d.target == tile; });
       }},
      {"an index twice among batch, row and column", kAttend,
       [](Plan& p) { tiles(p).column = tiles(p).row; }},

      // Tiles.
      {"a tile over other indices", kAttend, [](Plan& p) { tiles(p).tiles[0].free.pop_back(); }},
      {"a tile that is compared for equality", kAttend,
       [](Plan& p) {
         TilesForm& form = tiles(p, 1);
         const Tile& first = form.tiles[0];
         const Expr value = read(first.tensor, Type::f32, index_values(first.free));
         form.tiles[1].visible.insert(equal(value, 1.0));
       }},
      {"a tile without a name that has dimensions", kAttend,
       [](Plan& p) { tiles(p).tiles[1].free = {tiles(p).row}; }},
      {"a read of another point of a tile", kAttend, [](Plan& p) { read_transposed(tiles(p, 1)); }},
      {"a tile without its sum of products", kAttend,
       [](Plan& p) { tiles(p).tiles[0].dots.clear(); }},
      {"a sum of products that is not read at its point", kAttend,
       [](Plan& p) { tiles(p).tiles[0].value = Expr(1.0); }},

      // Results.
      {"no result", kAttend, [](Plan& p) { tiles(p).results.clear(); }},
      {"results that do not stand together", kAttend,
       [](Plan& p) { std::swap(streaming(p).results[0], streaming(p).results[1]); }},
      {"a result of no tile", kAttend, [](Plan& p) { tiles(p).results[0].tile = 2; }},
      {"a result of an inner tile", kAttend,
       [](Plan& p) { streaming(p).tiles.push_back(streaming(p).tiles[0]); }},
      {"a feature that is a row, a column or of the batch", kAttend,
       [](Plan& p) { tiles(p).results[0].feature = tiles(p).column; }},
      {"a scaled scatter", kRelative, [](Plan& p) { scattered(p).scale = Expr(2.0); }},
      {"positions of another number", kRelative, [](Plan& p) { scattered(p).position.pop_back(); }},
      {"a position of another index", kRelative,
       [](Plan& p) { scattered(p).position[0] = new_index(p.backward->graph); }},
      {"a result over other indices", kAttend,
       [](Plan& p) { tiles(p).results[0].free = {tiles(p).column}; }},
      {"a log-sum-exp, or what it weighs, that is summed over the batch", kBatch,
       [](Plan& p) { std::erase(streaming(p).results[0].free, streaming(p).batch[0]); }},
      {"a scale over what is summed", kAttend,
       [](Plan& p) { tiles(p).results[0].scale = index_value(tiles(p).column); }},
      {"a panel over other indices", kAttend,
       [](Plan& p) { tiles(p).results[0].panel = new_index(p.backward->graph); }},
      {"a scaled log-sum-exp", kAttend, [](Plan& p) { streaming(p).results[0].scale = Expr(2.0); }},
      {"a weight of another kind of sum", kAttend,
       [](Plan& p) { tiles(p).results[0].weight = Expr(1.0); }},

      {"bounds of other blocks", kAttend,
       [](Plan& p) { tiles(p).bounds->first = *p.backward->graph.find("q"); }},
  };
}

}  // namespace attn::testing
