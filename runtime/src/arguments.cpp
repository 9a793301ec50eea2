// What callers give: which groups of tensors a function takes, and whether a tensor fits.
#include <attn/types.h>

#include "frame.h"

namespace attn::rt {
namespace {

constexpr Use kForward[] = {{ATTN_OUTPUTS, true, false, true, "output", "outputs"}};
constexpr Use kBackward[] = {{ATTN_OUTPUTS, false, false, true, "output", "outputs"},
                             {ATTN_GIVEN_OUTPUTS, false, true, true, "cotangent", "cotangents"},
                             {ATTN_WANTED_PARAMS, true, true, false, "gradient", ""},
                             {ATTN_WANTED_INPUTS, true, true, false, "gradient", ""}};
constexpr Use kJvp[] = {{ATTN_GIVEN_PARAMS, false, true, false, "tangent", ""},
                        {ATTN_GIVEN_INPUTS, false, true, false, "tangent", ""},
                        {ATTN_OUTPUTS, true, true, false, "output", ""},
                        {ATTN_WANTED_OUTPUTS, true, true, false, "tangent", ""}};
constexpr Use kHvp[] = {{ATTN_GIVEN_PARAMS, false, true, false, "tangent", ""},
                        {ATTN_GIVEN_INPUTS, false, true, false, "tangent", ""},
                        {ATTN_WANTED_PARAMS, true, true, false, "Hessian product", ""},
                        {ATTN_WANTED_INPUTS, true, true, false, "Hessian product", ""}};
constexpr Use kProbe[] = {{ATTN_OUTPUTS, false, false, true, "output", "outputs"},
                          {ATTN_RESULT, true, false, true, "output", "result"}};

bool is_derivative(int32_t group) {
  return group >= ATTN_GIVEN_PARAMS && group <= ATTN_WANTED_OUTPUTS;
}

}  // namespace

Uses uses_of(attn_function_kind kind) {
  switch (kind) {
    case ATTN_FORWARD:
      return {kForward, 1};
    case ATTN_BACKWARD:
      return {kBackward, 4};
    case ATTN_JVP:
      return {kJvp, 4};
    case ATTN_HVP:
      return {kHvp, 4};
    case ATTN_PROBE:
      return {kProbe, 2};
  }
  return {nullptr, 0};
}

attn_type Frame::type_of(int32_t group, int32_t k) const {
  const attn_type type = arguments_of(group)[k].type;
  return is_derivative(group) ? attn_gradient_type(type) : type;
}

void Frame::fill_shape(attn_tensor* tensor, attn_type type, int32_t shape) const {
  const attn_shape& from = program.shapes[shape];
  tensor->type = type;
  tensor->rank = from.rank;
  tensor->device = {};
  for (int32_t k = 0; k < from.rank; ++k) tensor->extent[k] = extent(from.extent[k]);
}

attn_status Frame::check(const char* kind, int32_t group, int32_t k, const attn_tensor& tensor,
                         bool is_optional) const {
  if (is_optional && tensor.data == nullptr) return ATTN_OK;
  const attn_argument& argument = arguments_of(group)[k];
  const attn_shape& wanted = program.shapes[argument.shape];
  const attn_type type = type_of(group, k);
  bool fits = tensor.type == type && tensor.rank == wanted.rank &&
              is_same(tensor.device, device_of(context)) &&
              (!is_derivative(group) || argument.differentiable != 0);
  for (int32_t d = 0; fits && d < wanted.rank; ++d) {
    fits = tensor.extent[d] == extent(wanted.extent[d]) && tensor.extent[d] >= 0;
  }
  if (fits) {
    const int64_t count = shapes[argument.shape].count, size = attn_type_size(type);
    if (count == 0) return ATTN_OK;
    const uintptr_t address = reinterpret_cast<uintptr_t>(tensor.data);
    const uintptr_t bytes = static_cast<uintptr_t>(count) * static_cast<uintptr_t>(size);
    fits = count <= INT64_MAX / 8 && address != 0 &&
           (address & (static_cast<uintptr_t>(size) - 1)) == 0 && address + bytes >= address;
  }
  if (fits) return ATTN_OK;
  attn_argument changed = argument;
  changed.type = type;
  attn_tensor shape = {};
  fill_shape(&shape, type, argument.shape);
  return attn_check_tensor(context, kind, &changed, &tensor, &shape, is_optional);
}

}  // namespace attn::rt
