#include "execute.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <algorithm>

#include "element.h"

namespace attn::rt {
namespace {

double milliseconds_now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

class Execution {
 public:
  Execution(Frame& frame, const Call& call)
      : frame_(frame),
        call_(call),
        f_(*frame.function),
        context_(frame.context),
        device_(frame.context->device),
        pieces_(call.pieces != nullptr ? call.pieces : frame.pieces),
        loans_(call.loans != nullptr ? call.loans : frame.loans) {}
  ~Execution() {
    if (known_ == nullptr || rows_ != known_->rows) attn_device_free(context_, rows_);
    LaunchGraphs::end(known_);
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  attn_status run(bool may_repeat) {
    if (frame_.target < 0) return refuse_device();
    ATTN_TRY(bind());
    LaunchGraphs& graphs = context_->graphs;
    if (may_repeat && graphs.functions != nullptr && graphs.is_wanted && !traces()) recognise();
    if (frame_.empty_bytes > 0) ATTN_TRY(bind_empty());
    if (traces()) begin_trace();
    if (f_.n_data_checks > 0) {
      ATTN_TRY(graphs.run(context_, known_, 0, [&] { return prepare(); }));
      ATTN_TRY(check_data());
      ATTN_TRY(graphs.run(context_, known_, 1, [&] { return run_kernels(); }));
    } else {
      ATTN_TRY(graphs.run(context_, known_, 0, [&] {
        const attn_status status = prepare();
        return status == ATTN_OK ? run_kernels() : status;
      }));
    }
    if (traces()) end_trace();
    return ATTN_OK;
  }

 private:
  // What kernels find in memory, and what is checked before anything of the caller is written.
  attn_status prepare() {
    ATTN_TRY(zero_given());
    if (rows_ != nullptr) ATTN_TRY(zero(rows_, static_cast<size_t>(frame_.empty_bytes)));
    return launch_all(0, f_.n_checks);
  }

  attn_status run_kernels() {
    int32_t next = f_.n_checks;
    for (int32_t k = 0; k < f_.n_loops; ++k) {
      ATTN_TRY(launch_all(next, f_.loops[k].first));
      ATTN_TRY(run_loop(k));
      next = f_.loops[k].end;
    }
    return launch_all(next, f_.n_kernels);
  }

  // All that decides what is launched: the tables, the sizes, and where the tensors are.
  void recognise() {
    const size_t n_tensors = static_cast<size_t>(frame_.base[ATTN_SLICES]);
    const size_t n_sizes = static_cast<size_t>(frame_.model.n_sizes);
    CallKey key(context_, CallKey::words_of<attn_program>() + CallKey::words_of<attn_function>() +
                              n_tensors + n_sizes + 3);
    key.add_table(frame_.program);
    key.add_table(f_);
    key.add(frame_.header[0]);
    key.add(call_.saved.data);
    key.add(call_.workspace.data);
    for (size_t k = 0; k < n_sizes; ++k) key.add(frame_.value[k]);
    for (size_t k = 0; k < n_tensors; ++k) key.add(frame_.tensors[k].data);
    known_ = context_->graphs.begin(context_, key);
  }

  // Why no target of the program serves the context.
  attn_status refuse_device() const {
    const attn_device_type type = device_->id.type == ATTN_OTHER ? ATTN_CPU : device_->id.type;
    const attn_target* first = frame_.program.targets;
    const attn_target* end = first + frame_.program.n_targets;
    while (first < end && first->device != type) ++first;
    if (first == end) {
      return attn_fail(context_, ATTN_REFUSED,
                       "this library has no kernels for %s; build it with --target %s",
                       device_->name,
                       type == ATTN_CUDA     ? "cuda"
                       : type == ATTN_OPENCL ? "opencl"
                                             : "host");
    }
    if (type == ATTN_CPU)
      return attn_fail(context_, ATTN_REFUSED, "this library was built for %s and later processors",
                       first->name);
    return attn_fail(context_, ATTN_REFUSED,
                     "this library was built for %s, compute capability %d.%d and later; %s has "
                     "%d.%d",
                     first->name, first->capability / 10, first->capability % 10, device_->name,
                     context_->capability / 10, context_->capability % 10);
  }

  attn_status refuse_tensor(const Shape& shape) const {
    if (device_->id.type == ATTN_CPU || device_->id.type == ATTN_OTHER)
      return attn_fail(context_, ATTN_REFUSED,
                       "kernels take extents and strides of at most 2^31 - 1; a tensor of %lld "
                       "elements has larger ones",
                       shown(shape.count));
    return attn_fail(context_, ATTN_REFUSED,
                     "kernels for %s take tensors of at most 2^31 - 1 elements; one has %lld",
                     device_->name, shown(shape.count));
  }

  // ---- tensors

  attn_status bind() {
    if (frame_.not_addressable != nullptr) return refuse_tensor(*frame_.not_addressable);
    Tensor* t = frame_.tensors;
    for (int32_t g = 0; g < ATTN_SAVED; ++g) {
      const attn_tensor* given = call_.tensors[g];
      for (int32_t k = 0; k < frame_.count_of(g); ++k)
        show(*t++, given != nullptr ? given[k].data : nullptr);
    }
    for (int32_t k = 0; k < frame_.program.n_saved; ++k) show(*t++, saved_at(k));
    for (int32_t k = 0; k < f_.n_workspace; ++k) show(*t++, nullptr);
    for (int32_t k = 0; k < f_.n_lives; ++k)
      if (Tensor& own = frame_.tensor(f_.lives[k].tensor); is_laid_out(k, own)) show(own, place(k));
    bind_reshaped();
    return ATTN_OK;
  }

  char* saved_at(int32_t k) const {
    if (call_.saved.data == nullptr) return nullptr;
    return static_cast<char*>(call_.saved.data) + frame_.saved_offsets[k];
  }

  // Whether the memory of a tensor is for the call to find. An empty one has none.
  bool is_laid_out(int32_t life, const Tensor& t) const {
    return pieces_[life].bytes >= 0 && t.data == nullptr && t.shape->count > 0;
  }

  char* place(int32_t life) const { return place_of(pieces_[life]); }

  char* place_of(const Piece& piece) const {
    if (piece.loan < 0) return static_cast<char*>(call_.workspace.data) + piece.offset;
    const int32_t lender = loans_[piece.loan].tensor;
    return static_cast<char*>(call_.tensors[lender >> 24][lender & 0xffffff].data) + piece.offset;
  }

  void show(Tensor& t, void* data) {
    t.data = data;
    t.buffer.flags = 0;
    if (device_->bind != nullptr)
      device_->bind(context_, &t.buffer, data);
    else
      t.buffer.host = data;
  }

  // What has another shape than the caller's tensor whose memory it is.
  void bind_reshaped() {
    for (int32_t k = f_.n_workspace - 1; k >= 0 && f_.workspace[k].within < 0; --k)
      show(frame_.tensor(ATTN_TENSOR(ATTN_WORKSPACE, k)),
           frame_.tensor(~f_.workspace[k].within).data);
  }

  // What is given by leaving it out.
  attn_status zero_given() {
    for (int32_t k = 0; k < f_.n_lives; ++k) {
      const int32_t group = f_.lives[k].tensor >> 24;
      if (group < ATTN_GIVEN_PARAMS || group > ATTN_GIVEN_OUTPUTS || pieces_[k].bytes <= 0)
        continue;
      const Tensor& t = frame_.tensor(f_.lives[k].tensor);
      if (t.data == place(k)) ATTN_TRY(zero(t.data, static_cast<size_t>(t.bytes())));
    }
    return ATTN_OK;
  }

  attn_status zero(void* data, size_t bytes) {
    return device_status(context_, device_->zero(context_, data, bytes));
  }

  // Each empty tensor has a row of its own: kernels may write to it.
  attn_status bind_empty() {
    if (known_ != nullptr) rows_ = known_->rows;
    if (rows_ == nullptr)
      rows_ = attn_device_allocate(context_, static_cast<size_t>(frame_.empty_bytes));
    if (rows_ == nullptr) return out_of_memory(context_);
    if (known_ != nullptr && known_->is_repeated) known_->rows = rows_;
    int64_t at = 0;
    for (Tensor* t = frame_.tensors; t < frame_.tensors + frame_.base[ATTN_SLICES]; ++t) {
      if (t->shape->count != 0) continue;
      show(*t, static_cast<char*>(rows_) + at);
      at = aligned_end(at, t->row_bytes());
    }
    return ATTN_OK;
  }

  // ---- kernels

  attn_status run_loop(int32_t k) {
    const attn_loop& loop = f_.loops[k];
    const int64_t count = frame_.extent(loop.count);
    steps_ = count;
    for (int32_t s = 0; s < f_.n_slices; ++s)
      if (const attn_slice& slice = f_.slices[s]; slice.loop == k && slice.block > 0)
        frame_.lay_out_block(s, slice.life >= 0 && pieces_[slice.life].is_step);
    frame_.lay_out_copies(k);
    for (int64_t n = 0; n < count; ++n) {
      const int64_t step = loop.is_down ? count - 1 - n : n;
      frame_.value[loop.step] = step;
      frame_.narrow[loop.step] = static_cast<int32_t>(step);
      for (int32_t s = 0; s < f_.n_slices; ++s) {
        const attn_slice& slice = f_.slices[s];
        if (slice.loop != k) continue;
        show(frame_.tensor(ATTN_TENSOR(ATTN_SLICES, s)), place_of_step(slice, step));
      }
      for (int32_t w = 0; w < f_.n_workspace; ++w)
        if (Tensor& t = frame_.tensor(ATTN_TENSOR(ATTN_WORKSPACE, w)); t.is_view)
          show(t, frame_.tensor(ATTN_TENSOR(ATTN_SLICES, f_.workspace[w].within - 1)).data);
      ATTN_TRY(launch_all(loop.first, loop.end));
    }
    steps_ = 0;
    return ATTN_OK;
  }

  // Where a slice is at a step of its loop.
  char* place_of_step(const attn_slice& slice, int64_t step) {
    const Tensor& whole = frame_.tensor(slice.whole);
    const attn_dimension& steps = whole.shape->dim[slice.dimension];
    // Of what rolls, fewer steps are in memory.
    int64_t place = slice.block > 0 ? step * slice.block : step % steps.extent;
    if (whole.data == nullptr) return nullptr;
    const Piece* piece = slice.life >= 0 ? &pieces_[slice.life] : nullptr;
    if (piece != nullptr && piece->is_step) place = 0;
    if (piece != nullptr && piece->turn != nullptr) {  // forward ends with it, and backward begins
      const bool is_last = (f_.loops[slice.loop].is_down == 0) == (f_.kind == ATTN_FORWARD);
      if (step == (is_last ? steps.extent - 1 : 0)) return place_of(*piece->turn);
      if (!is_last) --place;
    }
    return static_cast<char*>(whole.data) + place * steps.stride * whole.element_bytes;
  }

  attn_status launch_all(int32_t first, int32_t end) {
    for (int32_t k = first; k < end; ++k) {
      const attn_kernel& kernel = f_.kernels[k];
      if (!has_work(kernel)) continue;
      const double begin = traces() ? milliseconds_now() : 0;
      const bool is_few =
          kernel.code_of_few_rows != nullptr && frame_.extent(kernel.rows) <= kernel.most_rows;
      const attn_kernel_code* codes = is_few ? kernel.code_of_few_rows : kernel.code;
      const int code = codes[frame_.target](frame_.arguments[k]);
      ATTN_TRY(kernel_status(context_, kernel.name, code));
      if (traces()) ATTN_TRY(trace(k, begin));
    }
    return ATTN_OK;
  }

  bool has_work(const attn_kernel& kernel) {
    for (int32_t n = kernel.n_arguments - kernel.n_writes; n < kernel.n_arguments; ++n) {
      const Tensor& t = frame_.tensor(kernel.arguments[n]);
      if (t.shape->count > 0 && t.data != nullptr && !t.is_view) return true;
    }
    return false;
  }

  attn_status check_data() {
    if (f_.n_data_checks == 0) return ATTN_OK;
    ATTN_TRY(copy_checked());
    for (int32_t k = 0; k < f_.n_data_checks; ++k) {
      const attn_data_check& check = f_.data_checks[k];
      int32_t least, greatest;
      ATTN_TRY(copy_out(&least, check.least));
      ATTN_TRY(copy_out(&greatest, check.greatest));
      const int64_t extent = frame_.extent(check.extent);
      if (least > greatest || (least >= 0 && greatest < extent)) continue;
      char element[kElementText];
      describe_element(frame_, check.data, least < 0 ? least : greatest, element);
      return attn_fail(context_, ATTN_BAD_DATA, "%s: %s %s at %d..%d, must be in 0..%lld%s%s%s",
                       check.data, check.is_written != 0 ? "writes" : "reads", check.read, least,
                       greatest, shown(extent - 1), *element ? "; " : "",
                       *element ? check.data : "", element);
    }
    return ATTN_OK;
  }

  // What the checks have found, by one copy where all of it lies together in the workspace: a copy
  // from a device waits for it.
  attn_status copy_checked() {
    uintptr_t first = UINTPTR_MAX, end = 0;
    for (int32_t k = 0; k < f_.n_data_checks; ++k) {
      for (const int32_t id : {f_.data_checks[k].least, f_.data_checks[k].greatest}) {
        if (id >> 24 != ATTN_WORKSPACE) return ATTN_OK;
        const uintptr_t at = reinterpret_cast<uintptr_t>(frame_.tensor(id).data);
        first = std::min(first, at);
        end = std::max(end, at + sizeof(int32_t));
      }
    }
    if (end - first > sizeof checked_) return ATTN_OK;
    checked_from_ = first;
    return device_status(context_, device_->copy_out(context_, checked_,
                                                     reinterpret_cast<void*>(first), end - first));
  }

  attn_status copy_out(int32_t* to, int32_t tensor) {
    const void* from = frame_.tensor(tensor).data;
    if (checked_from_ == 0)
      return device_status(context_, device_->copy_out(context_, to, from, sizeof *to));
    memcpy(to, checked_ + (reinterpret_cast<uintptr_t>(from) - checked_from_), sizeof *to);
    return ATTN_OK;
  }

  // ---- trace

  bool traces() const { return context_->options.trace != nullptr; }

  void begin_trace() {
    frame_.program.operations(frame_.value, frame_.operations);
    whole_ = {};
    whole_.model = frame_.model.name;
    whole_.function = f_.name;
    whole_.index = -1;
    begin_ = milliseconds_now();
  }

  attn_status trace(int32_t k, double begin) {
    ATTN_TRY(device_status(context_, device_->wait(context_)));
    const attn_kernel& kernel = f_.kernels[k];
    attn_trace_event event = whole_;
    event.kernel = kernel.name;
    event.index = k;
    event.milliseconds = milliseconds_now() - begin;
    event.operations = frame_.operations[kernel.operations];
    event.bytes_read = event.bytes_written = 0;
    for (int32_t n = 0; n < kernel.n_arguments; ++n) {
      const int32_t id = kernel.arguments[n];
      if (id < 0) continue;
      const Tensor& t = frame_.tensor(id);
      if (t.data == nullptr) continue;
      const bool is_shared = steps_ > 0 && id >> 24 != ATTN_SLICES;
      const bool is_written = n >= kernel.n_arguments - kernel.n_writes;
      double bytes = static_cast<double>(t.bytes()) / (is_shared ? static_cast<double>(steps_) : 1);
      if (is_written && kernel.places > 0)
        bytes = frame_.operations[kernel.places - 1] * t.element_bytes;
      (is_written ? event.bytes_written : event.bytes_read) += bytes;
    }
    whole_.operations += event.operations;
    whole_.bytes_read += event.bytes_read;
    whole_.bytes_written += event.bytes_written;
    context_->options.trace(context_->options.trace_data, &event);
    return ATTN_OK;
  }

  void end_trace() {
    whole_.milliseconds = milliseconds_now() - begin_;
    context_->options.trace(context_->options.trace_data, &whole_);
  }

  Frame& frame_;
  const Call& call_;
  const attn_function& f_;
  attn_context* context_;
  const attn_device* device_;
  const Piece* pieces_;  // by life
  const Loan* loans_;
  KnownCall* known_ = nullptr;  // of a call that may be recorded
  void* rows_ = nullptr;        // of empty tensors
  int64_t steps_ = 0;           // of the loop that runs
  uintptr_t checked_from_ = 0;  // where on the device `checked_` was; 0: it is not used
  char checked_[4096];
  attn_trace_event whole_;
  double begin_;
};

}  // namespace

attn_status execute(Frame& frame, const Call& call, bool may_repeat) {
  return Execution(frame, call).run(may_repeat);
}

}  // namespace attn::rt
