// attnc bench: compiles a model, calls it again and again with random data and a trace, and prints
// what each kernel takes beside what this processor could do at most.
#include <attn/attn.h>
#include <attn/train.h>
#include <attn/types.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <random>

#include "compiler/driver/commands.h"
#include "compiler/driver/device.h"
#include "compiler/driver/held.h"
#include "compiler/driver/loaded.h"
#include "compiler/driver/peak.h"
#include "compiler/driver/unread.h"
#include "compiler/emit/names.h"
#include "compiler/plan/kinds.h"

namespace attn::driver {
namespace {

using Clock = std::chrono::steady_clock;
using Times = std::vector<double>;  // seconds, one a call

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double median(Times times) {
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}
double least(const Times& times) { return *std::min_element(times.begin(), times.end()); }

// What the calls of a kernel, or of a whole function, took.
struct Taken {
  Times times;
  double work = 0, bytes = 0;  // of a call: operations; what is read and written
};

// The calls of one function.
struct Measured {
  Taken whole;
  std::vector<Taken> kernels;  // of one that a loop runs: all runs of the call
  std::vector<Taken> current;  // of the call that runs: at most one time each
  std::vector<double> unread;  // of what a kernel takes, see unread_bytes

  static void record(void* data, const attn_trace_event* event) {
    if (event->index < 0) return;
    Measured& measured = *static_cast<Measured*>(data);
    const auto index = static_cast<size_t>(event->index);
    Taken& now = measured.current.at(index);
    now.times.resize(1);
    now.times[0] += event->milliseconds / 1e3;
    now.work += event->operations;
    now.bytes += event->bytes_read + event->bytes_written - measured.unread.at(index);
  }

  void begin_call() { current.assign(kernels.size(), {}); }
  void end_call(double seconds) {
    whole.times.push_back(seconds);
    whole.work = whole.bytes = 0;
    for (size_t k = 0; k < kernels.size(); ++k) {
      if (current[k].times.empty()) continue;
      kernels[k].times.push_back(current[k].times[0]);
      kernels[k].work = current[k].work;
      kernels[k].bytes = current[k].bytes;
      whole.work += current[k].work;
      whole.bytes += current[k].bytes;
    }
  }
};

// The run-time sizes in the order of the library, from --size NAME=n.
std::vector<int64_t> chosen_sizes(const CommandLine& c, const Compiled& m) {
  elaborate::Overrides given = size_overrides(c.run_time_sizes, "--size");
  std::vector<std::string> names;
  for (ir::SizeId s : emit::run_time_sizes(m.plan->forward_graph))
    names.push_back(m.plan->forward_graph[s].name);
  std::vector<int64_t> sizes;
  for (const std::string& name : names) {
    auto it = given.find(name);
    if (it == given.end())
      throw UsageError(fmt::format("{0} needs the size `{1}`: --size {1}=n", m.name, name));
    sizes.push_back(it->second);
    given.erase(it);
  }
  if (given.empty()) return sizes;
  std::string near = nearest(given.begin()->first, names);
  throw UsageError(fmt::format("{} has no size `{}` that is known when it runs{}", m.name,
                               given.begin()->first,
                               near.empty() ? "; -D sets one known when compiling"
                                            : fmt::format("; did you mean `{}`?", near)));
}

// The same by the sizes of a graph.
std::vector<int64_t> sizes_in(const ir::Graph& g, const attn_model& m,
                              const std::vector<int64_t>& sizes) {
  std::vector<int64_t> values(g.sizes.size());
  for (int32_t n = 0; n < m.n_sizes; ++n)
    for (size_t k = 0; k < g.sizes.size(); ++k)
      if (g.sizes[k].name == m.size_names[n]) values[k] = sizes[n];
  g.complete(values);
  return values;
}

// A call of the model with random data, in memory of its own.
class Subject {
 public:
  Subject(Loaded& library, const attn_model& m, const plan::Plan& plan, std::vector<int64_t> sizes,
          uint64_t seed)
      : library_(library),
        m_(m),
        plan_(plan),
        sizes_(std::move(sizes)),
        random_(seed),
        memory_(library) {
    params_.resize(m.n_params);
    inputs_.resize(m.n_inputs);
    outputs_.resize(m.n_outputs);
    const Loaded::Functions& call = library.call();
    library.require(
        call.shapes(&m, sizes_.data(), params_.data(), inputs_.data(), outputs_.data()));
    for (auto* group : {&params_, &inputs_, &outputs_})
      for (attn_tensor& t : *group) give_memory(t);
    std::vector<int64_t> read(m.n_sizes + 1);
    library.require(
        call.read_sizes(library.context(), &m, params_.data(), inputs_.data(), read.data()));
    library.require(call.initialise_model(library.context(), &m, params_.data(), seed));
    for (int32_t k = 0; k < m.n_inputs; ++k) fill(m.inputs[k].name, inputs_[k]);
    attn_sizes bytes{};
    library.require(call.call_sizes(library.context(), &m, params_.data(), inputs_.data(), &bytes));
    held.saved = m.has_backward ? bytes.saved : 0;
    held.workspace = m.has_backward ? bytes.training_workspace : bytes.forward_workspace;
    saved_ = memory_.lend(bytes.saved);
    workspace_ = memory_.lend(held.workspace);
    if (m.has_backward) prepare_backward();
    for (const attn_tensor& t : params_) {
      held.parameters += count_of(t) * attn_type_size(t.type);
      held.states += m.n_step_states * count_of(t) * attn_type_size(attn_state_type(t.type));
    }
    for (const attn_tensor& t : param_gradients_)
      if (t.data) held.gradients += count_of(t) * attn_type_size(t.type);
  }

  Held held;

  std::vector<int64_t> sizes_in(const ir::Graph& g) const {
    return driver::sizes_in(g, m_, sizes_);
  }
  void forward() {
    library_.require(library_.call().forward(library_.context(), &m_, params_.data(),
                                             inputs_.data(), outputs_.data(),
                                             m_.has_backward ? saved_ : attn_block{}, workspace_));
  }
  void backward() {
    library_.require(library_.call().backward(
        library_.context(), &m_, params_.data(), inputs_.data(), outputs_.data(), saved_,
        cotangents_.data(), param_gradients_.data(), input_gradients_.data(), workspace_));
  }

 private:
  void give_memory(attn_tensor& t) {
    double bytes = static_cast<double>(attn_type_size(t.type));
    for (int32_t k = 0; k < t.rank; ++k) bytes *= static_cast<double>(t.extent[k]);
    if (bytes > 1e15) throw SystemError(fmt::format("out of memory: {:.3g} bytes", bytes));
    memory_.give(t);
  }

  // Integers are below every extent that they are subscripts of, or 0 and 1.
  int64_t bound_of(const std::string& name) const {
    int64_t bound = INT64_MAX;
    for (const plan::Function* f :
         {&plan_.forward, plan_.backward ? &*plan_.backward : &plan_.forward})
      for (const plan::DataCheck& check : f->data_checks)
        if (check.data == name)
          bound = std::min(bound, f->graph.value(check.extent, sizes_in(f->graph)));
    return bound == INT64_MAX ? 2 : std::max<int64_t>(bound, 1);
  }

  void fill(const std::string& name, const attn_tensor& t) {
    evaluate::Array values{.extents = {t.extent, t.extent + t.rank}, .values = {}};
    values.values.resize(static_cast<size_t>(count_of(t)));
    const bool whole = t.type == ATTN_I32 || t.type == ATTN_BOOL;
    std::uniform_int_distribution<int64_t> integer(0, t.type == ATTN_I32 ? bound_of(name) - 1 : 1);
    std::uniform_real_distribution<double> real(-1, 1);
    for (double& v : values.values)
      v = whole ? static_cast<double>(integer(random_)) : real(random_);
    store(library_, name, values, t);
  }

  void prepare_backward() {
    auto gradients = [&](const attn_argument* table, std::vector<attn_tensor> tensors) {
      for (size_t k = 0; k < tensors.size(); ++k) {
        tensors[k].type = attn_gradient_type(table[k].type);
        tensors[k].data = nullptr;
        if (table[k].differentiable) give_memory(tensors[k]);
      }
      return tensors;
    };
    param_gradients_ = gradients(m_.params, params_);
    input_gradients_ = gradients(m_.inputs, inputs_);
    cotangents_ = gradients(m_.outputs, outputs_);
    for (int32_t k = 0; k < m_.n_outputs; ++k)
      if (cotangents_[k].data) fill(m_.outputs[k].name, cotangents_[k]);
    library_.require(library_.call().forward_backward_workspace(
        library_.context(), &m_, params_.data(), inputs_.data(), cotangents_.data(),
        param_gradients_.data(), input_gradients_.data(), &held.one_call));
  }

  Loaded& library_;
  const attn_model& m_;
  const plan::Plan& plan_;
  std::vector<int64_t> sizes_;
  std::mt19937_64 random_;
  Memory memory_;
  std::vector<attn_tensor> params_, inputs_, outputs_;
  std::vector<attn_tensor> cotangents_, param_gradients_, input_gradients_;
  attn_block saved_{}, workspace_{};
};

std::string duration(double seconds) {
  if (seconds < 1e-6) return fmt::format("{:.0f} ns", seconds * 1e9);
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s ", seconds);
}

std::string line(const std::string& what, size_t width, const Taken& taken, double peak) {
  std::string text = fmt::format("  {:<{}}", what, width);
  if (taken.times.empty()) return text + "  not called\n";
  const double typical = median(taken.times), rate = taken.work / typical;
  text += fmt::format(" {:>12} {:>12} {:>9.2f} {:>8.2f}", duration(typical),
                      duration(least(taken.times)), rate / 1e9, taken.bytes / typical / 1e9);
  const std::string share = rate > peak ? "- *" : fmt::format("{:.1f} %", 100 * rate / peak);
  return text + (peak > 0 ? fmt::format(" {:>8}\n", share) : "\n");
}

std::string table(const plan::Function& f, const Measured& measured, double peak) {
  std::vector<std::string> names;
  for (const plan::Kernel* k : kernels_of(f)) names.push_back(emit::title(f, *k));
  size_t width = 32;
  for (const std::string& name : names) width = std::max(width, name.size());
  std::string text = fmt::format("{:<{}} {:>12} {:>12} {:>9} {:>8}{}\n", f.name, width + 2,
                                 "median", "best", "GF/s", "GB/s", peak > 0 ? "  of peak" : "");
  for (size_t n = 0; n < names.size(); ++n)
    text += line(names[n], width, measured.kernels[n], peak);
  return text + line("together", width, measured.whole, peak);
}

// Unless the caller says how long: ten calls, and as many as a second holds.
constexpr int kLeastCalls = 10;
constexpr double kSeconds = 1, kLongest = 20;  // the longest that ten slow calls may take

struct Figures {
  Measured forward, backward;
  double peak = 0;  // of one thread; 0: not known
};

// The first call, which finds cold caches, is left out of more; always where a GPU's driver
// translates the kernels in it.
Figures measure(Loaded& library, const plan::Plan& plan, Subject& subject,
                const std::optional<double>& given_seconds) {
  const int least_calls = given_seconds ? 1 : kLeastCalls;
  const double limit = given_seconds.value_or(kSeconds);
  Figures figures;
  auto once = [&](Measured& measured, auto call) {
    library.call().set_trace(library.context(), Measured::record, &measured);
    measured.begin_call();
    const Clock::time_point begin = Clock::now();
    call();
    library.wait();
    measured.end_call(seconds_since(begin));
  };
  auto begin_anew = [&](Measured& measured, const plan::Function& f) {
    measured = {};
    measured.kernels.resize(kernels_of(f).size());
    measured.unread = unread_bytes(f, subject.sizes_in(f.graph));
  };
  Clock::time_point start;
  const bool is_host = library.device().id.type == ATTN_CPU;
  const auto goes_on = [&](int round) {
    if (round < 0 || (round == 0 && !is_host)) return true;
    if (round == 0 && given_seconds) return seconds_since(start) < limit;
    const double seconds = seconds_since(start);
    return (round < least_calls && seconds < kLongest) || seconds < limit;
  };
  for (int round = -1; goes_on(round); ++round) {
    if (round <= 0) {
      begin_anew(figures.forward, plan.forward);
      if (plan.backward) begin_anew(figures.backward, *plan.backward);
      start = Clock::now();
    }
    once(figures.forward, [&] { subject.forward(); });
    if (plan.backward) once(figures.backward, [&] { subject.backward(); });
    if (is_host) figures.peak = std::max(figures.peak, attn_fma_peak(1e-3, 0));
  }
  return figures;
}

// What was measured, and how.
struct Setting {
  const attn_model& model;
  const std::vector<int64_t>& sizes;
  std::string device;  // "cuda:0"; empty: the CPU
  int threads;
  const Figures& figures;
  const Held& held;
};

std::string tables(const plan::Plan& plan, const Setting& s) {
  std::string at;
  for (int32_t k = 0; k < s.model.n_sizes; ++k)
    at += fmt::format("{}{} = {}", k ? ", " : " with ", s.model.size_names[k], s.sizes[k]);
  const size_t calls = s.figures.forward.whole.times.size();
  const double peak = s.figures.peak * s.threads;
  std::string text = fmt::format("{}{}, {} call{}", s.model.name, at, calls, calls == 1 ? "" : "s");
  text += s.device.empty() ? fmt::format(", {} thread{}; peak {:.1f} GF/s a thread\n", s.threads,
                                         s.threads == 1 ? "" : "s", s.figures.peak / 1e9)
                           : fmt::format(" on {}, waiting for each kernel\n", s.device);
  text += to_text(s.held) + "\n" + table(plan.forward, s.figures.forward, peak);
  if (plan.backward) text += "\n" + table(*plan.backward, s.figures.backward, peak);
  if (text.find(" - *\n") != text.npos)
    text += "\n* above the peak: points that a condition hides are counted, but not computed\n";
  return text;
}

// Names are those of the source or made of them: nothing in them is to be escaped.
std::string json_of(const std::string& name, const Taken& taken) {
  if (taken.times.empty()) return fmt::format(R"({{"name": "{}", "calls": 0}})", name);
  return fmt::format(
      R"({{"name": "{}", "calls": {}, "median_seconds": {:.9g}, "best_seconds": {:.9g}, )"
      R"("operations": {:.17g}, "bytes": {:.17g}}})",
      name, taken.times.size(), median(taken.times), least(taken.times), taken.work, taken.bytes);
}

std::string json_of(const plan::Function& f, const Measured& measured) {
  std::string kernels;
  const std::vector<const plan::Kernel*> all = kernels_of(f);
  for (size_t n = 0; n < all.size(); ++n)
    kernels += fmt::format("{}\n      {}", n ? "," : "",
                           json_of(emit::title(f, *all[n]), measured.kernels[n]));
  return fmt::format("    {{\"kernels\": [{}\n     ],\n     \"together\": {}}}", kernels,
                     json_of(f.name, measured.whole));
}

std::string json(const plan::Plan& plan, const Setting& s) {
  std::string sizes;
  for (int32_t k = 0; k < s.model.n_sizes; ++k)
    sizes += fmt::format(R"({}"{}": {})", k ? ", " : "", s.model.size_names[k], s.sizes[k]);
  std::string functions = json_of(plan.forward, s.figures.forward);
  if (plan.backward) functions += ",\n" + json_of(*plan.backward, s.figures.backward);
  const std::string machine =
      s.device.empty() ? fmt::format(R"("threads": {}, "peak_operations_per_second": {:.9g})",
                                     s.threads, s.figures.peak)
                       : fmt::format(R"("device": "{}")", s.device);
  return fmt::format(
      "{{\"model\": \"{}\", \"sizes\": {{{}}}, {},\n  \"bytes\": {},\n"
      "  \"functions\": [\n{}\n  ]}}\n",
      s.model.name, sizes, machine, to_json(s.held), functions);
}

}  // namespace

int bench(const CommandLine& c) {
  const Device device = chosen_device(c);
  Source source;
  load(source, c.file);
  std::vector<Compiled> models;
  if (!source.diagnostics.has_errors())
    models = compile(source, {.sizes = size_overrides(c.sizes),
                              .model = c.model,
                              .probes = std::vector<std::string>(),
                              .precision = precision_of(c)});
  if (report(source)) return source.failure();
  const std::vector<int64_t> sizes = chosen_sizes(c, only_model(c, models));
  Scratch scratch;
  std::vector<emit::ModelPlan> plans;
  const emit::Library compiled = make_library("model", source, models, plans, device.targets);
  Loaded library(
      link_shared(compiled, scratch,
                  {.targets = device.targets, .cache = c.cache, .progress = progress_of(c)}));
  const int threads = std::max(c.threads, 1);
  library.open(threads, device.id);
  const attn_model& m = library.model(models[0].name);
  const plan::Plan& plan = plans[0].plan;
  Subject subject(library, m, plan, sizes, c.seed.value_or(1));
  const Figures figures = measure(library, plan, subject, c.seconds);
  const bool is_host = device.id.type == ATTN_CPU;
  const Setting setting{m,       sizes,   is_host ? "" : library.device().name,
                        threads, figures, subject.held};
  print_out(c.json ? json(plan, setting) : tables(plan, setting));
  return 0;
}

}  // namespace attn::driver
