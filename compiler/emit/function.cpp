// One function of the glue: where every tensor is, and the kernels in order.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "compiler/emit/loop.h"
#include "compiler/plan/kinds.h"
#include "compiler/target/target.h"

namespace attn::emit {
namespace {

using namespace ir;
using plan::Place;

class FunctionWriter {
 public:
  FunctionWriter(const plan::Plan& plan, const plan::Function& f, const Interface& i,
                 const Symbols& symbols, const std::vector<std::string>& targets)
      : plan_(plan), f_(f), g_(f.graph), i_(i), symbols_(symbols), targets_(targets) {
    using plan::FunctionKind;
    backward_ = f.kind == FunctionKind::backward;
    probe_ = f.kind == FunctionKind::probe;
    if (f.kind == FunctionKind::jvp || f.kind == FunctionKind::hvp) groups_ = groups_of(f.kind);
    std::vector<std::string> names;
    for (const Tensor& t : g_.tensors) names.push_back("t_" + identifier(t.name));
    names_ = identifiers(names);
    find_spares();
  }

  std::string write() {
    declare_kernels();
    layout();
    body();
    return out_;
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> text, Args&&... args) {
    out_ += fmt::format(text, std::forward<Args>(args)...) + "\n";
  }

  // Results that the caller may leave out although a kernel needs them in memory.
  void find_spares() {
    if (!backward_ && groups_.empty()) return;
    std::set<TensorId> needed;
    for (const plan::Kernel& k : f_.kernels) {
      needed.insert(k.reads.begin(), k.reads.end());
      if (k.writes.size() > 1) needed.insert(k.writes.begin(), k.writes.end());
    }
    for (const plan::Slice& s : f_.slices)
      if (f_.places[s.tensor.value] == Place::step) needed.insert(s.whole);
    for (TensorId t : needed)
      if (f_.places[t.value] == Place::result) spares_.push_back(t);
    for (size_t k = 0; k < g_.tensors.size(); ++k)
      if (is_derivative(g_.tensors[k].role)) spares_.push_back({static_cast<int32_t>(k)});
  }

  std::vector<const plan::Kernel*> all_kernels() const {
    std::vector<const plan::Kernel*> all;
    for (const plan::Kernel& k : f_.checks) all.push_back(&k);
    for (const plan::Kernel& k : f_.kernels) all.push_back(&k);
    return all;
  }

  void declare_kernels() {
    for (const plan::Kernel* k : all_kernels()) {
      std::string types = "void*";
      for (size_t n = 0; n < k->reads.size(); ++n) types += ", attn_buffer*";
      for (size_t n = 0; n < k->sizes.size(); ++n) types += ", int32_t";
      for (size_t n = 0; n < k->writes.size(); ++n) types += ", attn_buffer*";
      std::string table;
      for (const std::string& target : targets_) {
        std::string symbol = symbols_.at(k) + std::string(target::named(target).tail);
        line("int {}({});", symbol, types);
        table += (table.empty() ? "" : ", ") + symbol;
      }
      line("static int (*const {}[])({}) = {{{}}};", k->name, types, table);
    }
    line("");
  }

  void size_locals() { out_ += emit::size_locals(g_, i_.sizes); }

  // The slice that a tensor is of another's memory, or null.
  const plan::Slice* slice_of(TensorId t) const {
    if (f_.places[t.value] != Place::step) return nullptr;
    for (const plan::Slice& s : f_.slices)
      if (s.tensor == t) return &s;
    return nullptr;
  }

  // Offsets of the slots, then of the spares; gives the bytes in all.
  void layout() {
    line("static int64_t {}_{}_layout(const int64_t* size, int64_t* at) {{", i_.model, f_.name);
    size_locals();
    line("  int64_t end = 0, most = 0;\n  (void)most, (void)at;");
    for (size_t k = 0; k < f_.workspace.size(); ++k) {
      std::string comment;
      line("  most = 0;");
      for (TensorId t : f_.workspace[k].tensors) {
        line("  most = attn_larger(most, {}); /* {} */", byte_size(g_, t), g_[t].name);
      }
      line("  if (at) at[{}] = end;\n  end += attn_align(most);", k);
    }
    for (size_t k = 0; k < spares_.size(); ++k) {
      line("  if (at) at[{}] = end;\n  end += attn_align({}); /* {}, where the caller has none */",
           f_.workspace.size() + k, byte_size(g_, spares_[k]), g_[spares_[k]].name);
    }
    line("  return end + 64;\n}}\n");
  }

  static int index_of(const std::vector<Argument>& list, TensorId t) {
    for (size_t k = 0; k < list.size(); ++k)
      if (list[k].tensor == t) return static_cast<int>(k);
    return -1;
  }

  // The C expression of a tensor's data; empty for tensors that are not in memory.
  std::string location(TensorId t) const {
    const std::string& name = g_[t].name;
    switch (f_.places[t.value]) {
      case Place::given:
        if (g_[t].role == Role::parameter)
          return fmt::format("params[{}].data", index_of(i_.params, t));
        if (g_[t].role == Role::cotangent)
          return fmt::format("cotangents[{}].data", index_of(i_.outputs, g_[t].companion_of));
        if (g_[t].role == Role::tangent) return companion("tangents", g_[t].companion_of);
        return fmt::format("inputs[{}].data", index_of(i_.inputs, t));
      case Place::forwarded:
        return fmt::format("outputs[{}].data", index_of(i_.outputs, t));
      case Place::result:
        return result(t);
      case Place::saved:
        return fmt::format("saved + saved_at[{}]", place_in_saved(name));
      case Place::workspace:
        for (size_t k = 0; k < f_.workspace.size(); ++k)
          for (TensorId other : f_.workspace[k].tensors)
            if (other == t) return fmt::format("workspace + at[{}]", k);
        return {};
      case Place::step:
      case Place::none:
        return {};
    }
    return {};
  }

  // The block is forward's, whichever function reads it.
  size_t place_in_saved(const std::string& tensor_name) const {
    const plan::Function& forward = plan_.forward;
    size_t k = 0;
    while (forward.graph[forward.saved.at(k)].name != tensor_name) ++k;
    return k;
  }

  // Of a parameter or input: "param_tangents ? param_tangents[2].data : 0".
  std::string companion(const char* group, TensorId of) const {
    const int k = index_of(i_.params, of);
    return element(fmt::format("{}_{}", k >= 0 ? "param" : "input", group),
                   k >= 0 ? k : index_of(i_.inputs, of));
  }
  static std::string element(const std::string& group, int k) {
    return fmt::format("{0} ? {0}[{1}].data : 0", group, k);
  }

  std::string result(TensorId t) const {
    if (probe_) return "result->data";
    const TensorId of = g_[t].companion_of;
    if (backward_) return companion("gradients", of);
    if (f_.kind == plan::FunctionKind::hvp) return companion("products", of);
    if (of.valid()) return element("output_tangents", index_of(i_.outputs, of));
    // The outputs of the model stand first.
    size_t k = 0;
    while (g_.outputs.at(k).tensor != t) ++k;
    return groups_.empty() ? fmt::format("outputs[{}].data", k)
                           : element("outputs", static_cast<int>(k));
  }

  // The parameters behind those that all have.
  std::string more_parameters() const {
    if (groups_.empty())
      return fmt::format(
          "const attn_tensor* outputs, const int64_t* size, char* saved,\n    char* workspace{}",
          backward_ ? ", const attn_tensor* cotangents,\n    const attn_tensor* param_gradients, "
                      "const attn_tensor* input_gradients"
          : probe_  ? ", const attn_tensor* result"
                    : "");
    std::string text = "const int64_t* size, char* workspace";
    for (const Group& group : groups_) text += ",\n    const attn_tensor* " + group.name;
    return text;
  }

  void body() {
    line("static attn_status {}_{}_run(attn_context* context, const attn_tensor* params,", i_.model,
         f_.name);
    line("    const attn_tensor* inputs, {}) {{", more_parameters());
    line("  const int level = attn_level(context, {}, {});", target::named(targets_[0]).rank,
         targets_.size());
    line("  if (level < 0) return ATTN_REFUSED;");
    size_locals();
    line("  int64_t at[{}];", f_.workspace.size() + spares_.size() + 1);
    line("  {}_{}_layout(size, at);", i_.model, f_.name);
    line("  (void)params, (void)inputs, (void)workspace;");
    if (groups_.empty()) {
      line("  int64_t saved_at[{}];", plan_.forward.saved.size() + 1);
      line("  {}_saved_layout(size, saved_at);", i_.model);
      line("  (void)outputs, (void)saved, (void)saved_at;");
    }
    for (const Group& group : groups_) line("  (void){};", group.name);
    if (backward_) line("  (void)cotangents, (void)param_gradients, (void)input_gradients;");
    if (probe_) line("  (void)result;");
    line("  int failed = 0;");
    line("  (void)at, (void)level, (void)failed;\n");
    views();
    size_t place = 0;
    for (const plan::Kernel& k : f_.checks) call(k, place++);
    data_checks();
    for (size_t n = 0; n < f_.kernels.size(); ++n) {
      for (const plan::Loop& loop : f_.loops)
        if (loop.first == n && loop.end > n) out_ += loop_.emplace(f_, loop, names_).begin();
      call(f_.kernels[n], place++);
      for (const plan::Loop& loop : f_.loops)
        if (loop_ && loop.end == n + 1) {
          out_ += loop_->end();
          loop_.reset();
        }
    }
    line("  return ATTN_OK;\n}}\n");
  }

  void views() {
    std::set<TensorId> used;
    for (const plan::Kernel* k : all_kernels()) {
      used.insert(k->reads.begin(), k->reads.end());
      used.insert(k->writes.begin(), k->writes.end());
    }
    // A slice shows its whole, which nothing else may read.
    for (TensorId t : std::set<TensorId>(used))
      if (const plan::Slice* slice = slice_of(t)) used.insert(slice->whole);
    for (TensorId t : used)
      if (!slice_of(t)) view(t);
    for (TensorId t : used)
      if (slice_of(t))
        line("  attn_buffer {0};\n  attn_dimension d{0}[{1}];\n  {0}.dim = d{0};", names_[t.value],
             rank_of(t) + 1);
    line("");
  }

  size_t rank_of(TensorId t) const { return g_[t].extents.size() + (g_[t].split ? 1 : 0); }

  void view(TensorId t) {
    const Tensor& tensor = g_[t];
    std::string name = names_[t.value];
    line("  void* p{} = {};", name, location(t));
    auto spare = std::find(spares_.begin(), spares_.end(), t);
    if (spare != spares_.end()) {
      size_t k = f_.workspace.size() + (spare - spares_.begin());
      line("  if (!p{0}) {1}p{0} = workspace + at[{2}];", name,
           is_derivative(tensor.role)
               ? fmt::format("memset(workspace + at[{}], 0, (size_t)({})), ", k, byte_size(g_, t))
               : "",
           k);
    }
    std::string extents = tensor.split ? "2" : "";
    for (const Poly& p : tensor.extents) extents += (extents.empty() ? "" : ", ") + c_extent(g_, p);
    line("  attn_buffer {0};\n  attn_dimension d{0}[{1}];", name, std::max<size_t>(rank_of(t), 1));
    line(
        "  if (attn_view(context, &{0}, d{0}, p{0}, {1}, {2}, (const int64_t[]){{{3}}})) return "
        "ATTN_REFUSED;",
        name, c_type(tensor.storage), rank_of(t), extents.empty() ? "0" : extents);
  }

  // An expression that calls the kernel and leaves in `failed` what it returned.
  std::string attempt(const plan::Kernel& k, size_t place, const std::string& arguments) const {
    std::string call = fmt::format("failed = {}[level]({})", k.name, arguments);
    if (!i_.timed) return call;
    return fmt::format(
        "{0}_mark({0}_mark_data, {1}, 0), {2}, {0}_mark({0}_mark_data, {1}, 1), failed", i_.model,
        place, call);
  }

  void call(const plan::Kernel& k, size_t place) {
    std::string arguments = "context";
    for (TensorId t : k.reads) arguments += ", &" + names_[t.value];
    for (SizeId s : k.sizes) arguments += ", (int32_t)" + size_variable(g_, s);
    for (TensorId t : k.writes) arguments += ", &" + names_[t.value];
    // A gradient that the caller does not want, and nobody reads, is not computed.
    std::string condition;
    if ((backward_ || !groups_.empty()) && k.writes.size() == 1 &&
        f_.places[k.writes[0].value] == Place::result &&
        std::find(spares_.begin(), spares_.end(), k.writes[0]) == spares_.end())
      condition = fmt::format("p{}", names_[k.writes[0].value]);
    // Nothing to write: nothing to do.
    std::string elements;
    for (TensorId t : k.writes) {
      std::string count = element_count(g_, t);
      if (count == "1") elements = "1";
      if (elements != "1") elements += (elements.empty() ? "" : " + ") + count;
    }
    if (elements.find_first_not_of("0123456789 *+") != std::string::npos)
      condition += fmt::format("{}{} > 0", condition.empty() ? "" : " && ", elements);
    std::string doc = plan::kind_of(k.form).name;
    for (const Definition& d : k.definitions) doc += " " + g_[d.target].name;
    line("  /* {} */", doc);
    line("  if ({}({}) != 0)", condition.empty() ? "" : condition + " && ",
         attempt(k, place, arguments));
    line("    return attn_kernel_status(context, {}, failed);", quoted(k.name));
  }

  void data_checks() {
    for (const plan::DataCheck& c : f_.data_checks) {
      line("  if (attn_outside((const int32_t*)p{}, (const int32_t*)p{}, {}))",
           names_[c.lowest.value], names_[c.highest.value], c_extent(g_, c.extent));
      line(
          "    return attn_fail(context, ATTN_BAD_DATA, \"{}: reads {} at %d..%d, must be in "
          "0..%lld\",",
          c.data, c.read);
      line("                     *(const int32_t*)p{}, *(const int32_t*)p{}, (long long)({}) - 1);",
           names_[c.lowest.value], names_[c.highest.value], c_extent(g_, c.extent));
    }
  }

  const plan::Plan& plan_;
  const plan::Function& f_;
  const Graph& g_;
  const Interface& i_;
  const Symbols& symbols_;
  const std::vector<std::string>& targets_;
  bool backward_ = false, probe_ = false;
  std::vector<Group> groups_;  // of a function that is called alone
  std::vector<std::string> names_;
  std::vector<TensorId> spares_;
  std::optional<LoopWriter> loop_;  // whose kernels are being written
  std::string out_;
};

}  // namespace

std::string write_function(const plan::Plan& plan, const plan::Function& f,
                           const Interface& interface, const Symbols& symbols,
                           const std::vector<std::string>& targets) {
  return FunctionWriter(plan, f, interface, symbols, targets).write();
}

}  // namespace attn::emit
