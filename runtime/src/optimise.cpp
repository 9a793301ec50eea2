// Optimiser steps and norms. Work is cut into blocks that the context's threads share; sums are
// taken per block and then in the order of blocks, so the thread count changes no bit.
#include <attn/train.h>
#include <math.h>

#include <algorithm>

#include "context.h"
#include "elements.h"

namespace attn::rt {
namespace {

constexpr int64_t kBlock = 16384;

int64_t block_count(int64_t elements) { return (elements + kBlock - 1) / kBlock; }

struct Block1d {
  int64_t begin, end;
};

Block1d block_at(int64_t index, int64_t elements) {
  return {index * kBlock, std::min((index + 1) * kBlock, elements)};
}

// f32 with f32 state is the usual case, and the loop that the compiler vectorises.
template <class Update>
void update_block(const Update& u, Block1d block) {
  if (u.param->type == ATTN_F32) {
    for (int64_t k = block.begin; k < block.end; ++k) u.template element<ATTN_F32, ATTN_F32>(k);
  } else if (u.param->type == ATTN_F64) {
    for (int64_t k = block.begin; k < block.end; ++k) u.template element<ATTN_F64, ATTN_F64>(k);
  } else if (u.param->type == ATTN_F16) {
    for (int64_t k = block.begin; k < block.end; ++k) u.template element<ATTN_F16, ATTN_F32>(k);
  } else {
    for (int64_t k = block.begin; k < block.end; ++k) u.template element<ATTN_BF16, ATTN_F32>(k);
  }
}

template <class Update>
void update_tensor(attn_context* context, Update update, int64_t elements) {
  struct Closure {
    Update* update;
    int64_t elements;
  } closure{&update, elements};
  pool_run(
      context, block_count(elements),
      [](void* data, int64_t index) {
        const Closure* c = static_cast<const Closure*>(data);
        update_block(*c->update, block_at(index, c->elements));
        return 0;
      },
      &closure);
}

struct SgdUpdate {
  const attn_tensor* param;
  const void* gradient;
  void* velocity;  // null: no momentum
  attn_sgd options;

  template <attn_type kParam, attn_type kState>
  void element(int64_t k) const {
    const double p = get_real(kParam, param->data, k);
    double step = get_real(kState, gradient, k) + options.weight_decay * p;
    if (velocity != nullptr) {
      step += options.momentum * get_real(kState, velocity, k);
      put_real(kState, velocity, k, step);
    }
    put_real(kParam, param->data, k, p - options.rate * step);
  }
};

struct AdamUpdate {
  const attn_tensor* param;
  const void* gradient;
  void* first;
  void* second;
  attn_adam options;
  double correct1, correct2;  // 1 / (1 - beta^step)

  template <attn_type kParam, attn_type kState>
  void element(int64_t k) const {
    const double p = get_real(kParam, param->data, k);
    const double g = get_real(kState, gradient, k);
    const double m = options.beta1 * get_real(kState, first, k) + (1 - options.beta1) * g;
    const double v = options.beta2 * get_real(kState, second, k) + (1 - options.beta2) * g * g;
    put_real(kState, first, k, m);
    put_real(kState, second, k, v);
    const double step = m * correct1 / (sqrt(v * correct2) + options.epsilon);
    put_real(kParam, param->data, k, p - options.rate * (step + options.weight_decay * p));
  }
};

attn_status wrong_tensor(attn_context* context, const char* what, int32_t k, const char* wrong) {
  return attn_fail(context, ATTN_REFUSED, "%s %d: %s", what, k, wrong);
}

// The tensor has the type, and the parameter's extents, and memory.
attn_status check_like(attn_context* context, const char* what, int32_t k, attn_type type,
                       const attn_tensor& param, const attn_tensor& other) {
  if (other.type != type) return wrong_tensor(context, what, k, "its type differs");
  bool same = other.rank == param.rank;
  for (int32_t j = 0; same && j < param.rank; ++j) same = other.extent[j] == param.extent[j];
  if (!same) return wrong_tensor(context, what, k, "its extents differ from the parameter's");
  if (other.data == nullptr && attn_element_count(&param) > 0) {
    return wrong_tensor(context, what, k, "its data is null");
  }
  return ATTN_OK;
}

bool is_skipped(const attn_tensor& param, const attn_tensor& gradient) {
  return gradient.data == nullptr || attn_element_count(&param) == 0;
}

// Everything is checked before anything is written.
attn_status check_step(attn_context* context, int32_t count, const attn_tensor* params,
                       const attn_tensor* gradients, const attn_tensor* first,
                       const attn_tensor* second) {
  for (int32_t k = 0; k < count; ++k) {
    if (attn_element_count(&params[k]) < 0) {
      return wrong_tensor(context, "parameter", k, "its shape is not valid");
    }
    if (is_skipped(params[k], gradients[k])) continue;
    if (!is_real(params[k].type)) return wrong_tensor(context, "parameter", k, "it is not real");
    const attn_type state = attn_state_type(params[k].type);
    attn_status status = check_like(context, "parameter", k, params[k].type, params[k], params[k]);
    if (status == ATTN_OK) {
      status = check_like(context, "gradient", k, attn_gradient_type(params[k].type), params[k],
                          gradients[k]);
    }
    if (status == ATTN_OK && first != nullptr) {
      status = check_like(context, "state", k, state, params[k], first[k]);
    }
    if (status == ATTN_OK && second != nullptr) {
      status = check_like(context, "state", k, state, params[k], second[k]);
    }
    if (status != ATTN_OK) return status;
  }
  return ATTN_OK;
}

}  // namespace
}  // namespace attn::rt

using namespace attn::rt;

attn_type attn_state_type(attn_type parameter) {
  return parameter == ATTN_F64 ? ATTN_F64 : ATTN_F32;
}

attn_status attn_sgd_step(attn_context* context, const attn_sgd* options, int32_t count,
                          const attn_tensor* params, const attn_tensor* gradients,
                          const attn_tensor* velocity) {
  if (options->momentum != 0 && velocity == nullptr) {
    return attn_fail(context, ATTN_REFUSED, "momentum needs a velocity");
  }
  const attn_status status = check_step(context, count, params, gradients, velocity, nullptr);
  if (status != ATTN_OK) return status;
  for (int32_t k = 0; k < count; ++k) {
    if (is_skipped(params[k], gradients[k])) continue;
    void* state = velocity != nullptr ? velocity[k].data : nullptr;
    update_tensor(context, SgdUpdate{&params[k], gradients[k].data, state, *options},
                  attn_element_count(&params[k]));
  }
  return ATTN_OK;
}

attn_status attn_adam_step(attn_context* context, const attn_adam* options, int64_t step,
                           int32_t count, const attn_tensor* params, const attn_tensor* gradients,
                           const attn_tensor* first, const attn_tensor* second) {
  if (step < 1) return attn_fail(context, ATTN_REFUSED, "the step counts from 1");
  const attn_status status = check_step(context, count, params, gradients, first, second);
  if (status != ATTN_OK) return status;
  const double correct1 = 1 / (1 - pow(options->beta1, static_cast<double>(step)));
  const double correct2 = 1 / (1 - pow(options->beta2, static_cast<double>(step)));
  for (int32_t k = 0; k < count; ++k) {
    if (is_skipped(params[k], gradients[k])) continue;
    update_tensor(context,
                  AdamUpdate{&params[k], gradients[k].data, first[k].data, second[k].data, *options,
                             correct1, correct2},
                  attn_element_count(&params[k]));
  }
  return ATTN_OK;
}

double attn_gradient_norm(attn_context* context, int32_t count, const attn_tensor* gradients) {
  struct Closure {
    const attn_tensor* tensor;
    int64_t elements, offset;
    double sums[64];
  } closure;
  double total = 0;
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&gradients[t]);
    if (gradients[t].data == nullptr || elements <= 0) continue;
    closure.tensor = &gradients[t];
    closure.elements = elements;
    const int64_t blocks = block_count(elements);
    for (int64_t done = 0; done < blocks; done += 64) {
      closure.offset = done;
      const int64_t now = std::min<int64_t>(64, blocks - done);
      pool_run(
          context, now,
          [](void* data, int64_t index) {
            Closure* c = static_cast<Closure*>(data);
            const Block1d block = block_at(c->offset + index, c->elements);
            double sum = 0;
            for (int64_t k = block.begin; k < block.end; ++k) {
              const double value = get_real(c->tensor->type, c->tensor->data, k);
              sum += value * value;
            }
            c->sums[index] = sum;
            return 0;
          },
          &closure);
      for (int64_t k = 0; k < now; ++k) total += closure.sums[k];
    }
  }
  return sqrt(total);
}

attn_status attn_scale(attn_context* context, int32_t count, const attn_tensor* tensors,
                       double factor) {
  for (int32_t t = 0; t < count; ++t) {
    const int64_t elements = attn_element_count(&tensors[t]);
    if (tensors[t].data == nullptr || elements == 0) continue;
    if (elements < 0 || !is_real(tensors[t].type)) {
      return wrong_tensor(context, "tensor", t, "it is not real or its shape is not valid");
    }
    for (int64_t k = 0; k < elements; ++k) {
      put_real(tensors[t].type, tensors[t].data, k,
               factor * get_real(tensors[t].type, tensors[t].data, k));
    }
  }
  return ATTN_OK;
}
