#include "host_copy.h"

#include <attn/types.h>
#include <string.h>

#include "check.h"

namespace attn::rt {
namespace {

attn_status elsewhere(attn_context* context) {
  return attn_fail(context, ATTN_REFUSED,
                   "a tensor is neither in memory of the host nor of the context's device");
}

}  // namespace

HostCopy::HostCopy(attn_context* context, const attn_tensor& tensor, bool read, void* memory)
    : context_(context), tensor_(tensor) {
  const int64_t count = attn_element_count(&tensor);
  if (is_same(tensor.device, attn_device_id{}) || tensor.data == nullptr || count <= 0) return;
  if (!is_same(tensor.device, device_of(context))) {
    status_ = elsewhere(context);
    return;
  }
  bytes_ = static_cast<size_t>(count * attn_type_size(tensor.type));
  is_own_ = memory == nullptr;
  staged_ = is_own_ ? exact_allocate(context, bytes_) : memory;
  if (staged_ == nullptr)
    status_ = out_of_memory(context);
  else if (read)
    status_ =
        device_status(context, context->device->copy_out(context, staged_, tensor.data, bytes_));
  tensor_.data = staged_;
  tensor_.device = {};
}

HostCopy::~HostCopy() {
  if (is_own_) attn_free(nullptr, staged_);
}

attn_status HostCopy::write_to(const attn_tensor& tensor) {
  if (staged_ == nullptr || status_ != ATTN_OK) return status_;
  return device_status(context_, context_->device->copy_in(context_, tensor.data, staged_, bytes_));
}

}  // namespace attn::rt

using namespace attn::rt;

attn_status attn_copy(attn_context* context, const attn_tensor* to, const attn_tensor* from) {
  ATTN_TRY(check_given(context, to, "to"));
  ATTN_TRY(check_given(context, from, "from"));
  const int64_t count = attn_element_count(from);
  bool same = to->type == from->type && to->rank == from->rank && count >= 0;
  for (int32_t k = 0; same && k < from->rank; ++k) same = to->extent[k] == from->extent[k];
  if (!same) return attn_fail(context, ATTN_REFUSED, "a copy is between tensors of one shape");
  ATTN_TRY(check_array(context, to->data, count, "to->data"));
  ATTN_TRY(check_array(context, from->data, count, "from->data"));
  const HostCopy copied(context, *from, true);
  if (copied.status() != ATTN_OK || count == 0) return copied.status();
  const size_t bytes = static_cast<size_t>(count * attn_type_size(from->type));
  if (is_same(to->device, {})) {
    memmove(to->data, copied.tensor().data, bytes);
    return ATTN_OK;
  }
  if (!is_same(to->device, device_of(context))) return elsewhere(context);
  return device_status(context,
                       context->device->copy_in(context, to->data, copied.tensor().data, bytes));
}
