// What callers give: which groups of tensors a function takes, and whether a tensor fits.
#include <attn/types.h>
#include <string.h>

#include <algorithm>

#include "frame.h"

namespace attn::rt {
namespace {

// By function.
constexpr Use kUses[] = {
    {ATTN_FORWARD, ATTN_OUTPUTS, true, false, true, "", "outputs"},
    {ATTN_BACKWARD, ATTN_OUTPUTS, false, false, true, "", "outputs"},
    {ATTN_BACKWARD, ATTN_GIVEN_OUTPUTS, false, true, true, "cotangent", "cotangents"},
    {ATTN_BACKWARD, ATTN_WANTED_PARAMS, true, true, false, "gradient", ""},
    {ATTN_BACKWARD, ATTN_WANTED_INPUTS, true, true, false, "gradient", ""},
    {ATTN_JVP, ATTN_GIVEN_PARAMS, false, true, false, "tangent", ""},
    {ATTN_JVP, ATTN_GIVEN_INPUTS, false, true, false, "tangent", ""},
    {ATTN_JVP, ATTN_OUTPUTS, true, true, false, "", ""},
    {ATTN_JVP, ATTN_WANTED_OUTPUTS, true, true, false, "tangent", ""},
    {ATTN_HVP, ATTN_GIVEN_PARAMS, false, true, false, "tangent", ""},
    {ATTN_HVP, ATTN_GIVEN_INPUTS, false, true, false, "tangent", ""},
    {ATTN_HVP, ATTN_WANTED_PARAMS, true, true, false, "Hessian product", ""},
    {ATTN_HVP, ATTN_WANTED_INPUTS, true, true, false, "Hessian product", ""},
    {ATTN_PROBE, ATTN_OUTPUTS, false, false, true, "", "outputs"},
    {ATTN_PROBE, ATTN_RESULT, true, false, true, "", "result"},
};

bool is_derivative(int32_t group) {
  return group >= ATTN_GIVEN_PARAMS && group <= ATTN_WANTED_OUTPUTS;
}

}  // namespace

std::span<const Use> uses_of(attn_function_kind kind) {
  const auto found = std::ranges::equal_range(kUses, kind, {}, &Use::function);
  return {found.begin(), found.end()};
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

attn_status Frame::check(const char* kind, int32_t group, const attn_tensor* given,
                         bool is_optional) const {
  for (int32_t k = 0; given != nullptr && k < count_of(group); ++k) {
    const attn_argument& argument = arguments_of(group)[k];
    ATTN_TRY(
        check_tensor(context, kind, argument, &given[k], wanted[base[group] + k], is_optional));
  }
  return ATTN_OK;
}

bool Frame::is_again(const attn_tensor* const* given, const void* saved,
                     const void* workspace) const {
  if (!is_checked_ || checked_blocks_[0] != saved || checked_blocks_[1] != workspace) return false;
  for (int32_t g = 0; g < ATTN_SAVED; ++g) {
    if ((checked_groups_ >> g & 1) != (given[g] != nullptr ? 1u : 0u)) return false;
    const size_t bytes = sizeof(attn_tensor) * static_cast<size_t>(count_of(g));
    if (given[g] != nullptr && memcmp(&checked[base[g]], given[g], bytes) != 0) return false;
  }
  return true;
}

void Frame::passed(const attn_tensor* const* given, const void* saved, const void* workspace) {
  checked_groups_ = 0;
  checked_blocks_[0] = saved;
  checked_blocks_[1] = workspace;
  for (int32_t g = 0; g < ATTN_SAVED; ++g) {
    if (given[g] == nullptr) continue;
    checked_groups_ |= 1u << g;
    std::copy_n(given[g], count_of(g), &checked[base[g]]);
  }
}

}  // namespace attn::rt
