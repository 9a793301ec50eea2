// Calls a model of small.attn forward and backward, once to warm up and once to be counted.
#include <attn/attn.h>
#include <attn/model.h>
#include <attn/types.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "small.h"

namespace {

constexpr int64_t kRows = 100;

// The tensors of one group with memory of their own, filled with a pattern.
class Tensors {
 public:
  Tensors(std::vector<attn_tensor> shapes) : all_(std::move(shapes)) {
    for (attn_tensor& t : all_) {
      int64_t count = 1;
      for (int32_t k = 0; k < t.rank; ++k) count *= t.extent[k];
      memory_.emplace_back(attn_allocate(nullptr, static_cast<size_t>(count) * sizeof(float)));
      t.data = memory_.back().get();
      for (int64_t k = 0; k < count; ++k)
        static_cast<float*>(t.data)[k] = static_cast<float>(k % 7 - 3) / 8;
    }
  }
  attn_tensor* data() { return all_.data(); }

 private:
  struct Free {
    void operator()(void* memory) const { attn_free(nullptr, memory); }
  };
  std::vector<attn_tensor> all_;
  std::vector<std::unique_ptr<void, Free>> memory_;
};

int fail(attn_context* context) {
  std::fprintf(stderr, "%s\n", attn_context_message(context));
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "";
  const attn_model* model = nullptr;
  for (const attn_model* m : {attention_model(), layer_model()})
    if (std::strcmp(m->name, name) == 0) model = m;
  if (!model) {
    std::fprintf(stderr, "%s attention|layer\n", argv[0]);
    return 2;
  }
  attn_context_options options{};
  options.threads = 1;
  attn_context* context = nullptr;
  if (attn_context_create(&options, &context) != ATTN_OK) return 1;
  std::vector<attn_tensor> shapes[3];
  shapes[0].resize(model->n_params);
  shapes[1].resize(model->n_inputs);
  shapes[2].resize(model->n_outputs);
  attn_shapes(model, &kRows, shapes[0].data(), shapes[1].data(), shapes[2].data());
  Tensors params(shapes[0]), inputs(shapes[1]), outputs(shapes[2]), cotangents(shapes[2]),
      param_gradients(shapes[0]), input_gradients(shapes[1]);
  attn_sizes bytes{};
  if (attn_call_sizes(context, model, params.data(), inputs.data(), &bytes)) return fail(context);
  const int64_t most = bytes.training_workspace;
  const attn_block saved = {attn_allocate(context, static_cast<size_t>(bytes.saved)), bytes.saved};
  const attn_block workspace = {attn_allocate(context, static_cast<size_t>(most)), most};
  for (int round = 0; round < 2; ++round) {
    if (attn_forward(context, model, params.data(), inputs.data(), outputs.data(), saved,
                     workspace))
      return fail(context);
    if (attn_backward(context, model, params.data(), inputs.data(), outputs.data(), saved,
                      cotangents.data(), param_gradients.data(), input_gradients.data(), workspace))
      return fail(context);
  }
  attn_free(context, saved.data);
  attn_free(context, workspace.data);
  attn_context_destroy(context);
  return 0;
}
