// Sums of products in tiles: threads t across and w down a tile, each with kAcross x kDown results
// (u, v) in registers; jb and ib count tiles of columns and of rows, c chunks of what is summed.
#include <algorithm>

#include "compiler/lower/gpu/contraction.h"
#include "compiler/lower/gpu/threads.h"
#include "compiler/lower/terms/linear_index.h"

namespace attn::lower::gpu {

using Group = OutputDim::Group;

namespace {

// Chosen so that ptxas needs 48 registers and spills none; no GPU has measured them.
constexpr int kThreadsAcross = 16, kThreadsDown = 16, kThreads = kThreadsAcross * kThreadsDown;
constexpr int kAcross = 4, kDown = 4;  // results of a thread
constexpr int kColumns = kThreadsAcross * kAcross, kRows = kThreadsDown * kDown, kChunk = 16;
constexpr int kFew = 8;  // rows or columns that are no tile

// Neighbouring results of a thread are neighbours, so that their factors are one load.
Expr across(const Expr& u, const Expr& t) { return t * kAcross + u; }
Expr down(const Expr& v, const Expr& w) { return w * kDown + v; }

class Tiles {
 public:
  explicit Tiles(const ContractionSpec& spec) : spec_(spec) {
    for (const OutputDim& dim : spec.output)
      extents_[static_cast<int>(dim.group)].push_back(dim.extent);
    for (int g = 0; g < 3; ++g) {
      for (const Expr& e : extents_[g]) counts_[g] = counts_[g] * e;
      counts_[g] = simplify(counts_[g]);
    }
  }

  Func schedule() {
    const Expr batches = counts_[0], rows = counts_[1], columns = counts_[2];
    sum_(u_, v_, t_, w_, jb_, ib_, b_) = 0.0f;
    for (const ContractionTerm& term : spec_.terms) add(term);
    Func out("out");
    RDom o({{0, kAcross},
            {0, kDown},
            {0, kThreadsAcross},
            {0, kThreadsDown},
            {0, blocks_of(columns, kColumns)},
            {0, blocks_of(rows, kRows)},
            {0, batches}},
           "o");
    const Expr row = o[5] * kRows + down(o[1], o[3]);
    const Expr column = o[4] * kColumns + across(o[0], o[2]);
    o.where(row < rows && column < columns);
    std::vector<Expr> coordinates[] = {decode_index(own(o[6], batches), extents_[0]),
                                       decode_index(own(row, rows), extents_[1]),
                                       decode_index(own(column, columns), extents_[2])};
    std::vector<Expr> at, unset;
    std::vector<Var> vars;
    size_t next[3] = {0, 0, 0};
    for (const OutputDim& dim : spec_.output) {
      const int group = static_cast<int>(dim.group);
      at.push_back(in_range(coordinates[group][next[group]++], dim.extent));
      vars.emplace_back("d" + std::to_string(vars.size()));
    }
    const std::vector<Expr> values =
        spec_.epilogue(at, sum_(o[0], o[1], o[2], o[3], o[4], o[5], o[6]));
    for (const Expr& value : values) unset.push_back(undef(value.type()));
    std::reverse(vars.begin(), vars.end());
    std::reverse(at.begin(), at.end());
    out(vars) = Tuple(unset);
    out(at) = Tuple(values);
    one_thread_a_point(out);  // it is nothing, but Halide must not look for it on the host
    out.update()
        .allow_race_conditions()
        .unroll(o[0])
        .unroll(o[1])
        .gpu_threads(o[2], o[3])
        .gpu_blocks(o[4], o[5], o[6])
        .never_partition({o[4], o[5], o[6]});
    sum_.compute_at(out, o[4]).store_in(Halide::MemoryType::Register);
    sum_.bound(u_, 0, kAcross).bound(v_, 0, kDown).bound(t_, 0, kThreadsAcross);
    sum_.bound(w_, 0, kThreadsDown).bound_extent(jb_, 1).bound_extent(ib_, 1).bound_extent(b_, 1);
    sum_.unroll(u_).unroll(v_).gpu_threads(t_, w_);
    return out;
  }

 private:
  void add(const ContractionTerm& term) {
    RDom r({{0, kChunk}, {0, blocks_of(term.reduced, kChunk)}}, "r");
    Func left = staged("out_left", term.left, term.reduced, counts_[1], kRows, ib_);
    Func right = staged("out_right", term.right, term.reduced, counts_[2], kColumns, jb_);
    sum_(u_, v_, t_, w_, jb_, ib_, b_) +=
        left(down(v_, w_), r[0], ib_, r[1], b_) * right(across(u_, t_), r[0], jb_, r[1], b_);
    sum_.update(sum_.num_update_definitions() - 1)
        .reorder(u_, v_, r[0], t_, w_, jb_, ib_, b_, r[1])
        .unroll(u_)
        .unroll(v_)
        .gpu_threads(t_, w_)
        .never_partition({r[1]});
    for (Func f : {left, right}) f.compute_at(sum_, r[1]);
  }

  // A chunk of a factor in shared memory, 0 beyond what is summed; beyond the last row it repeats.
  Func staged(const char* name, const Factor& factor, const Expr& reduced, const Expr& extent,
              int size, const Var& block) const {
    Func f(name);
    const Expr last = max(extent - 1, 0), k = c_ * kChunk + k_;
    const Expr value =
        factor.at(own(b_, counts_[0]), own(min(block * size + m_, last), max(extent, 1)),
                  own(min(k, max(reduced - 1, 0)), max(reduced, 1)));
    f(m_, k_, block, c_, b_) = select(unsolved(k < reduced), value, 0.0f);
    Var q("q"), s("s"), across("st"), down("sw");
    if (factor.contiguous == Factor::Along::kReduced)
      f.reorder(k_, m_).fuse(k_, m_, q);
    else
      f.fuse(m_, k_, q);
    f.split(q, s, q, kThreads).split(q, down, across, kThreadsAcross).reorder(s, across, down);
    f.unroll(s).gpu_threads(across, down).store_in(Halide::MemoryType::GPUShared);
    // Four more floats a row keep the threads that store one column out of one bank.
    f.bound(m_, 0, size).bound(k_, 0, kChunk).bound_storage(m_, size + 4);
    f.bound_extent(block, 1).bound_extent(c_, 1).bound_extent(b_, 1);
    return f;
  }

  const ContractionSpec& spec_;
  std::vector<Expr> extents_[3];  // by group
  Expr counts_[3] = {1, 1, 1};
  Func sum_{"out_sum"};
  Var u_{"u"}, v_{"v"}, t_{"t"}, w_{"w"}, jb_{"jb"}, ib_{"ib"}, b_{"b"}, c_{"c"}, m_{"m"}, k_{"k"};
};

}  // namespace

bool suits_tiles(const ContractionSpec& spec) {
  const auto is_few = [](int typical) { return typical > 0 && typical < kFew; };
  return spec.type == Halide::Float(32) && !is_few(spec.typical_rows) &&
         !is_few(spec.typical_columns) && std::ranges::none_of(spec.terms, [](const auto& term) {
           return term.left.fallback || term.right.fallback;
         });
}

Func tiled_contraction(const ContractionSpec& spec) { return Tiles(spec).schedule(); }

}  // namespace attn::lower::gpu
