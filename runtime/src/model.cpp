// The calls of a model: what a caller gives is checked before anything is written.
#include <attn/model.h>
#include <string.h>

#include <algorithm>

#include "execute.h"

namespace attn::rt {
namespace {

// The first byte that is neither 0 nor 1; `count` where there is none.
int64_t first_false_bool(const void* data, int64_t count) {
  const uint8_t* bytes = static_cast<const uint8_t*>(data);
  constexpr int64_t kBlock = 4096;
  for (int64_t begin = 0; begin < count; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, count);
    uint8_t all = 0;
    for (int64_t k = begin; k < end; ++k) all |= bytes[k];
    if (all <= 1) continue;
    while (bytes[begin] <= 1) ++begin;
    return begin;
  }
  return count;
}

class Caller {
 public:
  // `forward`: of a call that runs it before the function of `frame`, which is backward; else null.
  Caller(attn_context* context, const attn_model* model, Frame& frame, Frame* forward)
      : context_(context), model_(*model), frame_(frame), forward_(forward) {}

  attn_status run(Call call) {
    const attn_function& f = *frame_.function;
    if (f.kind == ATTN_FORWARD && frame_.program.backward == nullptr) call.saved = {};
    ATTN_TRY(check(call));
    ATTN_TRY(check_bools(call));
    const LaunchScope scope(context_);
    if (forward_ != nullptr) return run_together(call);
    ATTN_TRY(execute(frame_, call, true));
    if (f.kind != ATTN_FORWARD || call.saved.data == nullptr) return ATTN_OK;
    return device_status(context_, context_->device->copy_in(context_, call.saved.data,
                                                             frame_.header, header_bytes()));
  }

 private:
  attn_status run_together(Call& call) {
    call.pieces = frame_.pieces;
    call.loans = frame_.loans;
    ATTN_TRY(execute(*forward_, call, true));
    call.pieces += frame_.program.forward->n_lives;
    return execute(frame_, call, true);
  }

  // Programs call again and again with the same tensors: to compare them takes less than to check
  // them. Backward alone has a saved block, so that what passed is not taken for both together.
  attn_status check(const Call& call) {
    const bool is_again = frame_.is_again(call.tensors, call.saved.data, call.workspace.data);
    if (!is_again) ATTN_TRY(check_tensors(call));
    if (is_again && forward_ != nullptr) ATTN_TRY(read_sizes(*forward_, call));
    ATTN_TRY(find_memory(call));
    if (is_again) return ATTN_OK;
    ATTN_TRY(check_overlap(context_, n_intervals_, frame_.intervals));
    frame_.passed(call.tensors, call.saved.data, call.workspace.data);
    return ATTN_OK;
  }

  attn_status refuse(const char* format, const char* what) {
    return attn_fail(context_, ATTN_REFUSED, format, model_.name, what);
  }

  attn_status check_tensors(const Call& call) {
    if (model_.n_params > 0 && call.tensors[ATTN_PARAMS] == nullptr)
      return refuse("%s: no %s", "parameters");
    ATTN_TRY(read_sizes(frame_, call));
    if (forward_ != nullptr) ATTN_TRY(read_sizes(*forward_, call));
    add_intervals(ATTN_PARAMS, call, false);
    add_intervals(ATTN_INPUTS, call, false);
    for (const Use& use : uses_of(frame_.function->kind)) {
      const attn_tensor* given = call.tensors[use.group];
      if (given == nullptr && use.is_required) return refuse("%s: no %s", use.name);
      ATTN_TRY(frame_.check(use.kind, use.group, given, use.is_optional));
      const bool is_output_of_forward = forward_ != nullptr && use.group == ATTN_OUTPUTS;
      add_intervals(use.group, call, use.is_written || is_output_of_forward);
    }
    return ATTN_OK;
  }

  static attn_status read_sizes(Frame& frame, const Call& call) {
    return frame.read_sizes(call.tensors[ATTN_PARAMS], call.tensors[ATTN_INPUTS]);
  }

  // Kernels read one bit of a bool. Memory that the host does not see is not looked at.
  attn_status check_bools(const Call& call) {
    for (const int32_t group : {ATTN_PARAMS, ATTN_INPUTS}) {
      for (int32_t k = 0; k < frame_.count_of(group); ++k) {
        const attn_tensor& given = call.tensors[group][k];
        if (given.type != ATTN_BOOL || given.device.type != ATTN_CPU) continue;
        const int64_t count = frame_.tensor(ATTN_TENSOR(group, k)).bytes();
        const int64_t at = first_false_bool(given.data, count);
        if (at == count) continue;
        return attn_fail(context_, ATTN_BAD_DATA,
                         "%s: element %lld is the byte %d; a bool is 0 or 1",
                         frame_.arguments_of(group)[k].name, shown(at),
                         static_cast<const uint8_t*>(given.data)[at]);
      }
    }
    return ATTN_OK;
  }

  void add_intervals(int32_t group, const Call& call, bool is_written) {
    const attn_tensor* given = call.tensors[group];
    const attn_argument* arguments = frame_.arguments_of(group);
    for (int32_t k = 0; given != nullptr && k < frame_.count_of(group); ++k) {
      const int64_t bytes = frame_.tensor(ATTN_TENSOR(group, k)).bytes();
      if (bytes == 0 || given[k].data == nullptr) continue;
      const bool is_state = group == ATTN_INPUTS && k >= model_.n_inputs - model_.n_states;
      frame_.intervals[n_intervals_++] = {arguments[k].name, given[k].data, bytes,
                                          is_written || is_state};
    }
  }

  // Memory that the call needs, and whether it writes it.
  attn_status add_memory(const char* what, const char* name, attn_block memory, int64_t bytes,
                         bool is_written) {
    ATTN_TRY(check_memory(context_, model_, what, memory, bytes));
    frame_.intervals[n_intervals_++] = {name, memory.data, bytes, is_written};
    return ATTN_OK;
  }

  attn_status find_memory(const Call& call) {
    const attn_function& f = *frame_.function;
    const Memory memory = forward_ != nullptr                                    ? Memory::together
                          : f.kind == ATTN_FORWARD && call.saved.data == nullptr ? Memory::unsaved
                                                                                 : Memory::own;
    ATTN_TRY(add_memory("workspace", "the workspace", call.workspace,
                        frame_.lay_out(memory, call.tensors), true));
    if (memory != Memory::own) return ATTN_OK;
    const int64_t saved_bytes = frame_.lay_out_saved();
    if (f.kind == ATTN_JVP || f.kind == ATTN_HVP || (f.kind == ATTN_PROBE && !f.reads_saved))
      return ATTN_OK;
    ATTN_TRY(add_memory("saved block", "the saved block", call.saved, saved_bytes,
                        f.kind == ATTN_FORWARD));
    if (f.kind == ATTN_FORWARD) return ATTN_OK;
    ATTN_TRY(device_status(context_, context_->device->copy_out(context_, frame_.stored,
                                                                call.saved.data, header_bytes())));
    if (memcmp(frame_.stored, frame_.header, header_bytes()) == 0) return ATTN_OK;
    return refuse("%s: the %s is of another call", "saved block");
  }

  size_t header_bytes() const { return 8 * (1 + static_cast<size_t>(model_.n_sizes)); }

  attn_context* context_;
  const attn_model& model_;
  Frame& frame_;
  Frame* forward_;
  int n_intervals_ = 0;
};

attn_status refuse_function(attn_context* context, const attn_model* model, const char* name) {
  return attn_fail(context, ATTN_REFUSED, "%s: was compiled without %s", model->name, name);
}

constexpr const char* kGradients = "gradients";

// `function`: gives that of the model's program; null where it has none. `is_together`: after
// forward.
template <class Function>
attn_status call(attn_context* context, const attn_model* model, Function function_of,
                 const char* name, const Call& given, bool is_together = false) {
  if (context == nullptr) return ATTN_REFUSED;
  ATTN_TRY(check_version(context, model));
  const attn_function* function = function_of(*model->program);
  if (function == nullptr) return refuse_function(context, model, name);
  const Frame::Pointer frame = Frame::take(context, *model, function);
  if (frame == nullptr) return out_of_memory(context);
  if (!is_together) return Caller(context, model, *frame, nullptr).run(given);
  const Frame::Pointer forward = Frame::take(context, *model, model->program->forward);
  if (forward == nullptr) return out_of_memory(context);
  return Caller(context, model, *frame, forward.get()).run(given);
}

const attn_function* backward_of(const attn_program& p) { return p.backward; }

// The bytes of every call, for the sizes of the frame, which is of forward.
attn_status find_sizes(attn_context* context, const attn_model& model, Frame& frame) {
  const attn_program& program = *model.program;
  attn_sizes sizes = {};
  const auto find = [&](const attn_function* f, int64_t* bytes) {
    if (f == nullptr) return ATTN_OK;
    const Frame::Pointer other = Frame::take(context, model, f);
    if (other == nullptr) return out_of_memory(context);
    other->set_sizes(frame.value);
    *bytes = std::max(*bytes, other->lay_out(Memory::own));
    return ATTN_OK;
  };
  ATTN_TRY(find(program.backward, &sizes.backward_workspace));
  ATTN_TRY(find(program.jvp, &sizes.jvp_workspace));
  ATTN_TRY(find(program.hvp, &sizes.hvp_workspace));
  for (int32_t k = 0; k < model.n_probes; ++k)
    ATTN_TRY(find(&program.probes[k], &sizes.probe_workspace));
  const int64_t with_saved = frame.lay_out(Memory::own);
  sizes.saved = program.backward != nullptr ? frame.lay_out_saved() : 0;
  sizes.training_workspace = std::max(with_saved, sizes.backward_workspace);
  sizes.forward_workspace = std::max(with_saved, frame.lay_out(Memory::unsaved));
  frame.call_sizes = sizes;
  frame.has_call_sizes = true;
  return ATTN_OK;
}

// Sizes that no extents were read for.
attn_status check_given_sizes(const attn_model* model, const int64_t* sizes) {
  ATTN_TRY(check_array(nullptr, sizes, model->n_sizes, "sizes"));
  const bool has_negative =
      std::any_of(sizes, sizes + model->n_sizes, [](int64_t n) { return n < 0; });
  return has_negative ? ATTN_REFUSED : ATTN_OK;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_read_sizes(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const attn_tensor* inputs, int64_t* sizes) {
  if (context == nullptr) return ATTN_REFUSED;
  ATTN_TRY(check_version(context, model));
  ATTN_TRY(check_array(context, sizes, model->n_sizes, "sizes"));
  const Frame::Pointer frame = Frame::take(context, *model, model->program->forward);
  if (frame == nullptr) return out_of_memory(context);
  const attn_status status = frame->read_sizes(params, inputs);
  std::copy_n(frame->value, model->n_sizes, sizes);
  return status;
}

attn_status attn_shapes(const attn_model* model, const int64_t* sizes, attn_tensor* params,
                        attn_tensor* inputs, attn_tensor* outputs) {
  ATTN_TRY(check_version(nullptr, model));
  ATTN_TRY(check_given_sizes(model, sizes));
  const Frame::Pointer frame = Frame::take(nullptr, *model, model->program->forward);
  if (frame == nullptr) return ATTN_NO_MEMORY;
  frame->set_sizes(sizes);
  attn_tensor* const groups[] = {params, inputs, outputs};
  const int32_t counts[] = {model->n_params, model->n_inputs, model->n_outputs};
  for (int32_t g = 0; g < 3; ++g) {
    for (int32_t k = 0; groups[g] != nullptr && k < counts[g]; ++k) {
      const attn_argument& argument = frame->arguments_of(g)[k];
      frame->fill_shape(&groups[g][k], argument.type, argument.shape);
    }
  }
  return ATTN_OK;
}

attn_status attn_probe_shape(const attn_model* model, int32_t k, const int64_t* sizes,
                             attn_tensor* result) {
  ATTN_TRY(check_version(nullptr, model));
  ATTN_TRY(check_given_sizes(model, sizes));
  if (result == nullptr || k < 0 || k >= model->n_probes) return ATTN_REFUSED;
  const Frame::Pointer frame = Frame::take(nullptr, *model, model->program->forward);
  if (frame == nullptr) return ATTN_NO_MEMORY;
  frame->set_sizes(sizes);
  frame->fill_shape(result, model->probes[k].type, model->probes[k].shape);
  return ATTN_OK;
}

attn_status attn_call_sizes(attn_context* context, const attn_model* model,
                            const attn_tensor* params, const attn_tensor* inputs,
                            attn_sizes* sizes) {
  if (context == nullptr) return ATTN_REFUSED;
  ATTN_TRY(check_version(context, model));
  ATTN_TRY(check_given(context, sizes, "sizes"));
  const Frame::Pointer frame = Frame::take(context, *model, model->program->forward);
  if (frame == nullptr) return out_of_memory(context);
  ATTN_TRY(frame->read_sizes(params, inputs));
  if (!frame->has_call_sizes) ATTN_TRY(find_sizes(context, *model, *frame));
  *sizes = frame->call_sizes;
  return ATTN_OK;
}

attn_status attn_forward_backward_workspace(attn_context* context, const attn_model* model,
                                            const attn_tensor* params, const attn_tensor* inputs,
                                            const attn_tensor* cotangents,
                                            const attn_tensor* param_gradients,
                                            const attn_tensor* input_gradients, int64_t* bytes) {
  if (context == nullptr) return ATTN_REFUSED;
  ATTN_TRY(check_version(context, model));
  ATTN_TRY(check_given(context, bytes, "bytes"));
  if (model->program->backward == nullptr) return refuse_function(context, model, kGradients);
  const Frame::Pointer frame = Frame::take(context, *model, model->program->backward);
  if (frame == nullptr) return out_of_memory(context);
  ATTN_TRY(frame->read_sizes(params, inputs));
  const Call call{.tensors = {params, inputs, nullptr, nullptr, nullptr, cotangents,
                              param_gradients, input_gradients}};
  *bytes = frame->lay_out(Memory::together, call.tensors);
  return ATTN_OK;
}

attn_status attn_forward(attn_context* context, const attn_model* model, const attn_tensor* params,
                         const attn_tensor* inputs, const attn_tensor* outputs, attn_block saved,
                         attn_block workspace) {
  return call(context, model, [](const attn_program& p) { return p.forward; }, "a forward function",
              {.tensors = {params, inputs, outputs}, .saved = saved, .workspace = workspace});
}

attn_status attn_backward(attn_context* context, const attn_model* model, const attn_tensor* params,
                          const attn_tensor* inputs, const attn_tensor* outputs, attn_block saved,
                          const attn_tensor* cotangents, const attn_tensor* param_gradients,
                          const attn_tensor* input_gradients, attn_block workspace) {
  return call(context, model, backward_of, kGradients,
              {.tensors = {params, inputs, outputs, nullptr, nullptr, cotangents, param_gradients,
                           input_gradients},
               .saved = saved,
               .workspace = workspace});
}

attn_status attn_forward_backward(attn_context* context, const attn_model* model,
                                  const attn_tensor* params, const attn_tensor* inputs,
                                  const attn_tensor* outputs, const attn_tensor* cotangents,
                                  const attn_tensor* param_gradients,
                                  const attn_tensor* input_gradients, attn_block workspace) {
  return call(context, model, backward_of, kGradients,
              {.tensors = {params, inputs, outputs, nullptr, nullptr, cotangents, param_gradients,
                           input_gradients},
               .workspace = workspace},
              true);
}

attn_status attn_jvp(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_tensor* inputs, const attn_tensor* param_tangents,
                     const attn_tensor* input_tangents, const attn_tensor* outputs,
                     const attn_tensor* output_tangents, attn_block workspace) {
  return call(context, model, [](const attn_program& p) { return p.jvp; }, "--derive=jvp",
              {.tensors = {params, inputs, outputs, param_tangents, input_tangents, nullptr,
                           nullptr, nullptr, output_tangents},
               .workspace = workspace});
}

attn_status attn_hvp(attn_context* context, const attn_model* model, const attn_tensor* params,
                     const attn_tensor* inputs, const attn_tensor* param_tangents,
                     const attn_tensor* input_tangents, const attn_tensor* param_products,
                     const attn_tensor* input_products, attn_block workspace) {
  return call(context, model, [](const attn_program& p) { return p.hvp; }, "--derive=hvp",
              {.tensors = {params, inputs, nullptr, param_tangents, input_tangents, nullptr,
                           param_products, input_products},
               .workspace = workspace});
}

attn_status attn_probe(attn_context* context, const attn_model* model, int32_t k,
                       const attn_tensor* params, const attn_tensor* inputs,
                       const attn_tensor* outputs, attn_block saved, const attn_tensor* result,
                       attn_block workspace) {
  const auto probe = [=](const attn_program& p) {
    return k >= 0 && k < model->n_probes ? &p.probes[k] : nullptr;
  };
  return call(context, model, probe, "a probe of this number",
              {.tensors = {params, inputs, outputs, nullptr, nullptr, nullptr, nullptr, nullptr,
                           nullptr, result},
               .saved = saved,
               .workspace = workspace});
}
