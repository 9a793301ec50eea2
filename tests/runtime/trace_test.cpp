// What a context tells of the calls and kernels that it runs.
#include <attn/attn.hpp>

#include "fake_model.h"

namespace {

struct Event {
  std::string function, kernel;
  int32_t index;
  double bytes_read, bytes_written, operations;
  bool operator==(const Event&) const = default;
};

TEST(Trace, TellsOfEveryKernelAndOfTheCall) {
  std::vector<Event> events;
  attn_context_options options = {};
  options.trace_data = &events;
  options.trace = [](void* data, const attn_trace_event* e) {
    EXPECT_STREQ(e->model, "line");
    EXPECT_GE(e->milliseconds, 0);
    static_cast<std::vector<Event>*>(data)->push_back({e->function, e->kernel ? e->kernel : "",
                                                       e->index, e->bytes_read, e->bytes_written,
                                                       e->operations});
  };
  attn::Context context(options);
  attn::Model model(context, fake_model());
  ASSERT_TRUE(model.init(1, {{"D", 3}}));
  const attn::Tensor x(ATTN_F32, {5, 3}), target(ATTN_F32, {5});
  ASSERT_TRUE(model.forward({x, target}));
  // x, w, c, target; y, loss, error.
  const Event forward = {"forward", "loops y loss", 0, 4 * (15 + 3 + 1 + 5), 4 * (5 + 1 + 5), 35};
  Event whole = forward;
  whole.kernel = "";
  whole.index = -1;
  EXPECT_EQ(events, (std::vector<Event>{forward, whole}));
  // Nobody wants the gradient of x.
  events.clear();
  ASSERT_TRUE(model.backward());
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].kernel, "loops dw dc");
  EXPECT_EQ(events[0].bytes_written, 4 * (3 + 1));
  EXPECT_EQ(events[1].function, "backward");
  events.clear();
  attn_context_set_trace(context.get(), nullptr, nullptr);
  ASSERT_TRUE(model.forward({x, target}));
  EXPECT_TRUE(events.empty());
}

TEST(Program, OfAnotherVersionIsRefused) {
  attn::Context context;
  attn_model old = *fake_model();
  old.abi_version = ATTN_ABI_VERSION - 1;
  attn_sizes bytes;
  EXPECT_EQ(attn_call_sizes(context.get(), &old, nullptr, nullptr, &bytes), ATTN_REFUSED);
  EXPECT_EQ(std::string(attn_context_message(context.get())),
            "a model compiled for version " + std::to_string(ATTN_ABI_VERSION - 1) +
                " of the interface; the runtime has version " + std::to_string(ATTN_ABI_VERSION));
}

}  // namespace
