#include "compiler/lower/cpu/contraction_fetch.h"

#include "compiler/lower/cpu/contraction_scheduler.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower {

using Halide::Internal::Call;
using Halide::Internal::Variable;

std::optional<Element> stored_element(const Expr& value) {
  const Call* call = value.as<Call>();
  if (call == nullptr || call->call_type != Call::Halide) return std::nullopt;
  const Halide::Internal::Function function(call->func);
  if (function.values().size() != 1) return std::nullopt;
  const Call* load = function.values()[0].as<Call>();
  if (load == nullptr || load->call_type != Call::Image || !load->param.defined())
    return std::nullopt;
  return Element{load->param, call->args};
}

Expr fetch(const Element& element, const Expr& after, const Expr& bytes) {
  const std::string& name = element.tensor.name();
  Expr offset = make_zero(Halide::Int(64));
  for (size_t d = 0; d < element.at.size(); ++d) {
    const std::string stride = name + ".stride." + std::to_string(d);
    offset += cast<int64_t>(element.at[d]) *
              cast<int64_t>(Variable::make(Halide::Int(32), stride, element.tensor));
  }
  const Expr buffer =
      Variable::make(Halide::type_of<halide_buffer_t*>(), name + ".buffer", element.tensor);
  const Expr data =
      Call::make(Halide::type_of<void*>(), Call::buffer_get_host, {buffer}, Call::Extern);
  return Call::make(
      Halide::Int(32), "halide_fetch_ahead",
      {data, offset * element.tensor.type().bytes() + cast<int64_t>(after), cast<int64_t>(bytes)},
      Call::Extern);
}

// Packing reads a factor once, as fast as memory gives it: of 128 rows of 3072 x 768 that took an
// eighth of the time. So tiles share the fetching of the next block of columns, each in its chunk
// of the reduction: ahead(row tile, column tile, chunk, batch), which is 0. GPT-2, with 2 layers of
// 128 tokens, took 0.97 of the time forward.
std::optional<Func> ContractionScheduler::next_columns(const Panels& term,
                                                       const Expr& chunk) const {
  const Factor& right = term.term->right;
  const bool along_columns = right.contiguous == Factor::Along::kOuter;
  const int width = tiles_.block_columns, length = tiles_.block_reduced;
  // Terms that data deals out are not beside each other.
  if (term.together == 0 || problem_.deals_terms() || right.run == 0 ||
      right.run % (along_columns ? width : length) != 0)
    return {};
  const int column_tiles = width / (tiles_.vectors * problem_.lanes);
  const int row_tiles = tiles_.block_rows * term.together / tiles_.rows;
  const Expr matrix = in_range(batch_, problem_.batch);
  const Expr next = (panel_ / column_tiles + 1) * width;
  const std::optional<Element> element = stored_element(right.at(matrix, next, 0));
  if (!element) return {};

  // Lines lie apart: terms of the chunk, each with all columns of the block, or the other way. The
  // last rows, where they are not all that share a block, fetch their part.
  const int lines = along_columns ? length : width;
  const Expr tiles = clamp(blocks_of(problem_.rows_of(matrix), tiles_.rows), 1, row_tiles);
  const Expr part = (lines - 1) / (tiles * column_tiles) + 1;
  const Expr turn = tile_ % row_tiles * column_tiles + panel_ % column_tiles;
  RDom r(0, lines, "r");
  r.where(r < part);
  const Expr line = turn * part + r;
  const Expr column = next + (along_columns ? Expr(0) : line);
  const Expr k = chunk * length + (along_columns ? line : Expr(0));
  r.where(line < lines);
  r.where(column < problem_.columns);
  r.where(k < term.term->reduced);
  const Expr elements =
      along_columns ? min(width, problem_.columns - column) : min(length, term.term->reduced - k);
  Func ahead("out_ahead");
  ahead(tile_, panel_, chunk_, batch_) = make_zero(problem_.type);
  ahead(tile_, panel_, chunk_, batch_) +=
      cast(problem_.type, fetch(*stored_element(right.at(matrix, column, k)), 0,
                                elements * element->tensor.type().bytes()));
  ahead.update().never_partition_all();
  return ahead;
}

}  // namespace attn::lower
