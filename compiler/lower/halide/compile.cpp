// Builds the Halide pipeline of a kernel and compiles it to an object.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>

#include "compiler/base/check.h"
#include "compiler/lower/forms/schedules.h"
#include "compiler/lower/halide/passes.h"
#include "compiler/lower/halide/target.h"
#include "compiler/lower/lower.h"

namespace attn::lower {
namespace {

// That CUDA starts down, or deep.
constexpr int kMostBlocksDown = 65535;

struct Built {
  Halide::Pipeline pipeline;
  std::vector<Halide::Argument> arguments;
  std::string how;

  Halide::Module module(const std::string& name, const Halide::Target& machine) {
    return with_instructions(pipeline.compile_to_module(arguments, name, machine));
  }
};

class Builder {
 public:
  Builder(const plan::Function& f, const plan::Kernel& kernel, const Target& target, bool few_rows)
      : f_(f), g_(f.graph), kernel_(kernel), target_(target), few_rows_(few_rows) {}

  Built build() {
    arguments_.hides_data = target_.arch == target::Arch::gpu;
    if (target_.device == ATTN_CUDA) {
      // Products round the scores of tiles as much as the shorter one does.
      const bool rounds = std::holds_alternative<plan::TilesForm>(kernel_.form) &&
                          f_.precision != plan::Precision::highest;
      arguments_.exp = rounds ? short_cuda_exp : cuda_exp;
    }
    for (ir::SizeId s : kernel_.sizes)
      arguments_.sizes.emplace(s, Param<int32_t>(fresh_name(g_[s].name)));
    Built built;
    for (ir::TensorId t : kernel_.reads) {
      arguments_.tensors.emplace(t, parameter(t, fresh_name(g_[t].name)));
      built.arguments.push_back(arguments_.tensors.at(t));
    }
    const auto [outs, how] = scheduled();
    built.how = how;
    auto written = kernel_.writes.begin();
    for (const Func& out : outs) {
      // Buffers of one Func have the same bounds.
      Halide::OutputImageParam buffer = out.output_buffers()[0];
      constrain(buffer, *written);
      for (Halide::OutputImageParam of_result : out.output_buffers())
        free_strides(of_result, *written++);
    }
    for (ir::SizeId s : kernel_.sizes) built.arguments.push_back(arguments_.sizes.at(s));
    built.pipeline = Halide::Pipeline(outs);
    const auto* contraction = std::get_if<plan::ContractionForm>(&kernel_.form);
    if (contraction && contraction->kept && target_.arch == target::Arch::x86_64)
      leave_out_kept(built.pipeline);
    join_argument_checks(built.pipeline);
    unalign_result_loads(built.pipeline);
    const bool is_gpu = target_.arch == target::Arch::gpu;
    if (is_gpu) skip_bodies(built.pipeline);
    show_data(built.pipeline);
    if (is_gpu) {
      keep_registers_private(built.pipeline);
      join_barriers(built.pipeline);
      if (target_.device == ATTN_CUDA) {
        copy_pieces(built.pipeline);
        overlap_copies(built.pipeline);
        write_shared_addresses(built.pipeline);
        split_launches(built.pipeline, kMostBlocksDown);
      }
      store_halves_as_words(built.pipeline);
      write_doubles_as_bits(built.pipeline);
    }
    if (target_.arch == target::Arch::x86_64) hoist_conditions(built.pipeline);
    return built;
  }

 private:
  Scheduled scheduled() const {
    const Scope scope{g_, arguments_, kernel_.writes, f_.precision};
    if (few_rows_ && target_.arch == target::Arch::x86_64)
      return {cpu::schedule_few_rows(std::get<plan::TilesForm>(kernel_.form), scope, target_), ""};
    const auto on_target = [&](const auto& form) -> Scheduled {
      switch (target_.arch) {
        case target::Arch::x86_64:
          return {cpu::schedule(form, scope, target_), ""};
        case target::Arch::gpu:
          return gpu::schedule(form, scope, target_);
      }
      throw InternalError("an architecture without schedules");
    };
    return std::visit(on_target, kernel_.form);
  }

  // Names of arguments in messages and statements: letters, digits and `_`, each once. They end in
  // `_`, as no name does that Halide or a schedule here makes up: `a3`, `t12`, `largest`.
  std::string fresh_name(std::string text) {
    for (char& c : text)
      if (!isalnum(static_cast<unsigned char>(c))) c = '_';
    do {
      text += '_';
    } while (!names_.insert(text).second);
    return text;
  }

  // Results have the extents of the graph, an empty one counting as 1: the caller's view is then of
  // zeros. Of what it reads, a kernel asks no more than the part that it needs.
  void constrain(Halide::OutputImageParam& buffer, ir::TensorId t) {
    Translator translator(g_, arguments_, {});
    int dim = static_cast<int>(g_[t].extents.size());
    for (const ir::Poly& extent : g_[t].extents)
      buffer.dim(--dim).set_bounds(0, max(translator.extent(extent), 1));
    if (has_free_planes(g_[t])) buffer.dim(0).set_stride(Expr());
  }

  // A block lies within a tensor that has more elements along one dimension.
  void free_strides(Halide::OutputImageParam& buffer, ir::TensorId t) {
    if (!plan::is_block(f_, t)) return;
    for (int d = 1; d < buffer.dimensions(); ++d) buffer.dim(d).set_stride(Expr());
  }

  // The two numbers of one log-sum-exp: those of a step are not side by side among all.
  static bool has_free_planes(const ir::Tensor& t) { return t.split && t.extents.empty(); }

  ImageParam parameter(ir::TensorId t, const std::string& name) {
    const ir::Tensor& tensor = g_[t];
    int rank = static_cast<int>(tensor.extents.size()) + (tensor.split ? 1 : 0);
    ImageParam p(storage_type(tensor.storage), rank, name);
    for (size_t d = 0; d < tensor.extents.size(); ++d) p.dim(static_cast<int>(d)).set_min(0);
    if (has_free_planes(tensor)) p.dim(0).set_stride(Expr());
    return p;
  }

  const plan::Function& f_;
  const ir::Graph& g_;
  const plan::Kernel& kernel_;
  const Target& target_;
  const bool few_rows_;
  Arguments arguments_;
  std::set<std::string> names_ = {"out"};
};

// Halide's warnings are about schedules (that bf16 is emulated, say): nothing a user could act on.
class Reporter : public Halide::CompileTimeErrorReporter {
  void warning(const char*) override {}
  [[noreturn]] void error(const char* text) override { throw Halide::CompileError(text); }
};

// What `work` makes of the pipeline of a kernel.
template <class F>
auto with_pipeline(const plan::Function& f, const plan::Kernel& kernel, const std::string& target,
                   bool few_rows, F work) {
  static Reporter reporter;
  Halide::set_custom_compile_time_error_reporter(&reporter);
  const Target& row = target::named(target);
  prepare_code_generation(row.arch);
  try {
    return work(Builder(f, kernel, row, few_rows).build(), kernel_target(row));
  } catch (const Halide::Error& e) {
    throw InternalError("kernel " + kernel.name + ": " + e.what());
  }
}

// Kernels refer to halide_NAME; the runtime defines attn_k_NAME, of equal length, so that foreign
// Halide code can be linked beside. Only the string table holds these names.
void rename_runtime(std::string& object) {
  const std::string from = std::string(1, '\0') + "halide_", to = std::string(1, '\0') + "attn_k_";
  for (size_t at = object.find(from); at != std::string::npos; at = object.find(from, at + 1))
    object.replace(at, from.size(), to);
}

}  // namespace

std::string host_target() { return std::string(host().name); }

std::string compile_object(const plan::Function& f, const plan::Kernel& kernel,
                           const std::string& target, const std::string& symbol,
                           const std::string& scratch, bool few_rows) {
  return with_pipeline(
      f, kernel, target, few_rows, [&](Built built, const Halide::Target& machine) {
        built.module(symbol, machine).compile({{Halide::OutputFileType::object, scratch}});
        std::ostringstream object;
        object << std::ifstream(scratch, std::ios::binary).rdbuf();
        unlink(scratch.c_str());
        std::string bytes = std::move(object).str();
        rename_runtime(bytes);
        hide_symbols(bytes);
        return bytes;
      });
}

std::string statement(const plan::Function& f, const plan::Kernel& kernel,
                      const std::string& target, bool few_rows) {
  return with_pipeline(f, kernel, target, few_rows,
                       [&](Built built, const Halide::Target& machine) {
                         std::ostringstream out;
                         out << built.module(kernel.name + (few_rows ? "_few" : ""), machine);
                         return out.str();
                       });
}

std::string schedule(const plan::Function& f, const plan::Kernel& kernel,
                     const std::string& target) {
  return with_pipeline(f, kernel, target, false,
                       [](const Built& built, const Halide::Target&) { return built.how; });
}

std::string device_program(const plan::Function& f, const plan::Kernel& kernel,
                           const std::string& target) {
  return with_pipeline(f, kernel, target, false,
                       [&](Built built, const Halide::Target& machine) -> std::string {
                         const Halide::Module module = built.module(kernel.name, machine);
                         for (const Halide::Buffer<void>& b : module.buffers()) {
                           if (b.name().find("gpu_source_kernels") == std::string::npos) continue;
                           const char* text = static_cast<const char*>(b.data());
                           return {text, strnlen(text, b.size_in_bytes())};
                         }
                         throw InternalError("a kernel of " + target + " without a program");
                       });
}

void write_archive(const std::vector<std::string>& object_paths, const std::string& path) {
  Halide::create_static_library(object_paths, kernel_target(target::targets().front()), path);
}

}  // namespace attn::lower
