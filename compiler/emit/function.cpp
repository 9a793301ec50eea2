#include "compiler/emit/function.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "compiler/base/check.h"
#include "compiler/plan/reshaped.h"
#include "compiler/plan/result_blocks.h"

namespace attn::emit {
namespace {

using namespace ir;
using plan::FunctionKind;
using plan::Place;

class FunctionWriter {
 public:
  FunctionWriter(const plan::Plan& plan, const plan::Function& f, const Interface& i,
                 const Symbols& symbols, Shared& shared)
      : plan_(plan),
        f_(f),
        g_(f.graph),
        i_(i),
        symbols_(symbols),
        shared_(shared),
        values_(shared.values, f.graph) {}

  std::vector<std::string> members() {
    for (size_t k = 0; k < f_.lives.size(); ++k)
      if (f_.places[f_.lives[k].tensor.value] == Place::workspace)
        in_workspace_.emplace(f_.lives[k].tensor, in_workspace_.size());
    for (size_t k = 0; k < f_.loops.size(); ++k) find_slices(f_.loops[k], k);
    const std::vector<std::string> workspace = locals();
    const std::vector<std::string> kernels = all_kernels();
    return {fmt::format("ATTN_{}, {}, .reads_saved = {}, .n_checks = {},", kind(),
                        quoted(plan::title(f_)), f_.saved.empty() ? 0 : 1, f_.checks.size()),
            rows("attn_local", "workspace", workspace),
            rows("attn_life", "lives", lives(f_.lives)),
            rows("attn_life", "unsaved_lives", lives(f_.unsaved_lives)),
            rows("attn_slice", "slices", slices_),
            rows("attn_data_check", "data_checks", data_checks()),
            rows("attn_loop", "loops", loops_),
            rows("attn_kernel", "kernels", kernels, true)};
  }

 private:
  const char* kind() const {
    constexpr const char* kNames[] = {"FORWARD", "BACKWARD", "JVP", "HVP", "PROBE", "FORWARD"};
    return kNames[static_cast<size_t>(f_.kind)];
  }
  bool computes_derivatives() const {
    return f_.kind == FunctionKind::backward || f_.kind == FunctionKind::jvp ||
           f_.kind == FunctionKind::hvp;
  }

  std::vector<std::string> locals() {
    std::vector<std::string> list;
    for (const plan::Life& life : f_.lives) {
      if (f_.places[life.tensor.value] != Place::workspace) continue;
      const Tensor& t = g_[life.tensor];
      list.push_back(fmt::format("{{{}, {}, {}}}", c_type(t.storage), shared_.shape(values_, t),
                                 slice_copied_to(life.tensor)));
    }
    for (const Output& o : g_.outputs) {
      const TensorId t = o.tensor;
      if (!plan::is_reshaped(g_, t)) continue;
      in_workspace_[t] = list.size();
      list.push_back(fmt::format("{{{}, {}, ~{}}}", c_type(g_[t].storage),
                                 shared_.shape(values_, g_[t]), result(t)));
    }
    return list;
  }

  // Of a tensor that a kernel of a loop copies from a slice: that, from 1 on; else 0.
  size_t slice_copied_to(TensorId copy) const {
    for (size_t n = 0; n < f_.kernels.size(); ++n) {
      const TensorId from = plan::copied_by(f_, f_.kernels[n]);
      const plan::Loop* loop = plan::loop_of(f_, n);
      if (from.valid() && loop && f_.kernels[n].writes[0] == copy)
        return 1 + slice_of_.at({static_cast<size_t>(loop - f_.loops.data()), from});
    }
    return 0;
  }

  int life_of(TensorId t) const {
    const auto life = std::ranges::find(f_.lives, t, &plan::Life::tensor);
    return life == f_.lives.end() ? -1 : static_cast<int>(life - f_.lives.begin());
  }

  // Tensors of the caller are counted as it knows them.
  std::vector<std::string> lives(const std::vector<plan::Life>& of) const {
    const std::set<TensorId> needed = needed_in_memory();
    std::vector<std::string> list;
    for (const plan::Life& life : of) {
      const TensorId t = life.tensor;
      list.push_back(fmt::format("{{{}, {}, {}, {}, {}, {}, {}}}",
                                 f_.places[t.value] == Place::result ? result(t) : tensor(t),
                                 life.first, life.last, life_of(life.over), needed.count(t) ? 1 : 0,
                                 life.of_step ? steps_of(life.tensor) : 0, life.in_step));
    }
    return list;
  }

  // What the caller may leave out although a kernel needs it: results that kernels read, or write
  // with others, and derivatives that are zero where they are not given.
  std::set<TensorId> needed_in_memory() const {
    std::set<TensorId> needed;
    if (!computes_derivatives()) {
      for (const plan::Life& life : f_.lives)
        if (f_.places[life.tensor.value] == Place::saved && !life.if_saved)
          needed.insert(life.tensor);
      return needed;
    }
    for (const plan::Kernel& k : f_.kernels) {
      needed.insert(k.reads.begin(), k.reads.end());
      if (k.writes.size() > 1) needed.insert(k.writes.begin(), k.writes.end());
    }
    // A result that a loop writes block by block is left out with its kernel.
    for (const plan::Slice& s : f_.slices)
      if (s.block == 0) needed.insert(s.whole);
    std::erase_if(needed, [&](TensorId t) {
      return f_.places[t.value] != Place::result && !is_derivative(g_[t].role);
    });
    return needed;
  }

  // The slices that the kernels of a loop take. What a slice shows is whole in no kernel of the
  // loop.
  void find_slices(const plan::Loop& loop, size_t number) {
    const int step = values_.new_step(loop.steps.step);
    const size_t checks = f_.checks.size();
    loops_.push_back(fmt::format("{{{}, {}, {}, {}, {}}}", loop.first + checks, loop.end + checks,
                                 step, values_.extent(loop.steps.count), loop.steps.down ? 1 : 0));
    std::set<TensorId> touched;
    for (size_t n = loop.first; n < loop.end; ++n)
      for (TensorId t : f_.kernels[n].arguments()) touched.insert(t);
    for (const plan::Slice& s : f_.slices) {
      if (!touched.count(s.tensor) || !s.dimension) continue;
      slice_of_[{number, s.tensor}] = slices_.size();
      slices_.push_back(fmt::format("{{{}, {}, {}, {}, {}}}", tensor(s.whole),
                                    g_[s.whole].extents.size() - 1 - *s.dimension, number,
                                    life_of(s.whole), s.block));
    }
  }

  // The number of blocks of a tensor of which one is in memory; 1: of steps.
  int64_t steps_of(TensorId t) const {
    const auto slice = std::ranges::find(f_.slices, t, &plan::Slice::whole);
    const bool is_block = slice != f_.slices.end() && slice->block > 0;
    return is_block ? *g_.known(g_[t].extents[*slice->dimension]) / slice->block : 1;
  }

  std::vector<std::string> all_kernels() {
    std::vector<std::string> list;
    for (const plan::Kernel& k : f_.checks) list.push_back(kernel(k, f_.loops.size()));
    for (size_t n = 0; n < f_.kernels.size(); ++n) {
      const plan::Loop* loop = plan::loop_of(f_, n);
      list.push_back(kernel(f_.kernels[n], loop ? loop - f_.loops.data() : f_.loops.size()));
    }
    return list;
  }

  std::string kernel(const plan::Kernel& k, size_t loop) {
    std::string arguments;
    for (TensorId t : k.reads) arguments += ", " + tensor(t, loop);
    for (SizeId s : k.sizes) arguments += fmt::format(", V({})", values_.of(s));
    for (TensorId t : k.writes) arguments += ", " + tensor(t, loop);
    const std::string code = symbols_.at(&k);
    const std::string rest = fmt::format("{}, {}{})", values_.operations(plan::operations(g_, k)),
                                         k.writes.size(), arguments);
    if (const auto places = plan::places_of(g_, k.form))
      return fmt::format("KERNEL_OF_PLACES({}, {}, {}, {}", quoted(title(f_, k)), code,
                         values_.operations(*places), rest);
    const auto rows = plan::few_rows_of(g_, k.form);
    if (!rows) return fmt::format("KERNEL({}, {}, {}", quoted(title(f_, k)), code, rest);
    return fmt::format("KERNEL_OF_ROWS({}, {}, {}{}, {}, {}, {}", quoted(title(f_, k)), code, code,
                       kFewRowsTail, values_.extent(*rows), plan::kFewRows, rest);
  }

  std::vector<std::string> data_checks() {
    std::vector<std::string> list;
    for (const plan::DataCheck& c : f_.data_checks)
      list.push_back(fmt::format("{{{}, {}, {}, {}, {}{}}}", tensor(c.lowest), tensor(c.highest),
                                 values_.extent(c.extent), quoted(c.data), quoted(c.read),
                                 c.is_written ? ", 1" : ", 0"));
    return list;
  }

  static int index_of(const std::vector<Argument>& list, TensorId t) {
    for (size_t k = 0; k < list.size(); ++k)
      if (list[k].tensor == t) return static_cast<int>(k);
    return -1;
  }

  // The tensor's entry in a table: "W(3)". `loop`: of the kernel that takes it.
  std::string tensor(TensorId t, size_t loop = 0) const {
    switch (f_.places[t.value]) {
      case Place::given:
        return given(t);
      case Place::forwarded:
        return fmt::format("O({})", index_of(i_.outputs, t));
      case Place::result:
        if (const auto own = in_workspace_.find(t); own != in_workspace_.end())
          return fmt::format("W({})", own->second);
        return result(t);
      case Place::updated:
        return given(g_.updated_by(t));
      case Place::saved:
        return fmt::format("S({})", place_in_saved(t));
      case Place::workspace:
        return fmt::format("W({})", in_workspace_.at(t));
      case Place::step:
        if (const auto slice = slice_of_.find({loop, t}); slice != slice_of_.end())
          return fmt::format("L({})", slice->second);
        return tensor(plan::whole_of(f_, t), loop);  // each step writes all of a sum over steps
      case Place::none:
        break;
    }
    throw InternalError("a kernel takes a tensor that has no place: " + g_[t].name);
  }

  // The block is forward's, whichever function reads it.
  size_t place_in_saved(TensorId t) const {
    const auto own = f_.in_forward.find(t);
    const TensorId in_forward = own == f_.in_forward.end() ? t : own->second;
    size_t k = 0;
    while (plan_.forward.saved.at(k) != in_forward) ++k;
    return k;
  }

  // Of a parameter or input: "GP(2)".
  std::string companion(char group, TensorId of) const {
    const int k = index_of(i_.params, of);
    return k >= 0 ? fmt::format("{}P({})", group, k)
                  : fmt::format("{}I({})", group, index_of(i_.inputs, of));
  }

  std::string given(TensorId t) const {
    switch (g_[t].role) {
      case Role::parameter:
        return fmt::format("P({})", index_of(i_.params, t));
      case Role::cotangent:
        return fmt::format("GO({})", index_of(i_.outputs, g_[t].companion_of));
      case Role::tangent:
        return companion('G', g_[t].companion_of);
      default:
        return fmt::format("I({})", index_of(i_.inputs, t));
    }
  }

  std::string result(TensorId t) const {
    if (f_.kind == FunctionKind::probe) return "R(0)";
    const TensorId of = g_[t].companion_of;
    if (f_.kind == FunctionKind::backward || f_.kind == FunctionKind::hvp)
      return companion('W', of);
    if (of.valid()) return fmt::format("WO({})", index_of(i_.outputs, of));
    // The outputs of the model stand first.
    size_t k = 0;
    while (g_.outputs.at(k).tensor != t) ++k;
    return fmt::format("O({})", k);
  }

  const plan::Plan& plan_;
  const plan::Function& f_;
  const Graph& g_;
  const Interface& i_;
  const Symbols& symbols_;
  Shared& shared_;
  GraphValues values_;
  std::map<TensorId, size_t> in_workspace_;
  std::map<std::pair<size_t, TensorId>, size_t> slice_of_;  // by loop
  std::vector<std::string> slices_, loops_;
};

}  // namespace

int Shared::shape(GraphValues& own, const Tensor& t) {
  std::string extents = t.split ? "2" : "";
  for (const Poly& p : t.extents) extents += (extents.empty() ? "" : ", ") + own.extent(p);
  const std::string text = extents.empty() ? "SCALAR" : fmt::format("SHAPE({})", extents);
  auto [it, is_new] = known_shapes.try_emplace(text, static_cast<int>(shapes.size()));
  if (is_new) shapes.push_back(text);
  return it->second;
}

std::vector<std::string> function_members(const plan::Plan& plan, const plan::Function& f,
                                          const Interface& i, const Symbols& symbols,
                                          Shared& shared) {
  return FunctionWriter(plan, f, i, symbols, shared).members();
}

}  // namespace attn::emit
