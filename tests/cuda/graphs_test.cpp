// Launch graphs: which calls are recorded, what a graph keeps, and what becomes of failures.
#include <attn/device.h>
#include <attn/train.h>

#include <attn/attn.hpp>

#include "chain.h"
#include "context.h"
#include "tests/runtime/fake_model.h"

namespace {

using fake_cuda::calls;

class CudaGraphs : public Cuda {
 protected:
  CudaGraphs() { set_chain_kernels(); }
};

// The check is one launch, of which a graph would be no gain: the rest is launched as one.
TEST_F(CudaGraphs, ARepeatedCallIsOneLaunch) {
  Owned context(on(0));
  Chain chain(context);
  chain.expect_right();
  EXPECT_EQ(calls("cuStreamBeginCapture"), 0);
  EXPECT_EQ(calls("cuLaunchKernel"), 8);
  chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 1);
  EXPECT_EQ(calls("cuStreamBeginCapture"), 2);
  const int launched = calls("cuLaunchKernel");
  for (int k = 2; k < 9; ++k) {
    chain.x()[1] = static_cast<float>(100 * k);
    chain.expect_right();
    EXPECT_EQ(calls("cuGraphLaunch"), k);
    EXPECT_EQ(calls("cuLaunchKernel"), launched + k - 1);
  }
  EXPECT_EQ(calls("cuStreamBeginCapture"), 2);
}

TEST_F(CudaGraphs, OtherTensorsAndSizesAreOtherCalls) {
  Owned context(on(0));
  Chain a(context), b(context), longer(context, 7);
  for (int k = 0; k < 2; ++k)
    for (Chain* chain : {&a, &b, &longer}) chain->expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 3);
  const int recorded = calls("cuStreamBeginCapture");
  a.x()[2] = 70;
  for (int k = 0; k < 2; ++k)
    for (Chain* chain : {&longer, &b, &a}) chain->expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 9);
  EXPECT_EQ(calls("cuStreamBeginCapture"), recorded);
}

// One that is not among the last is recorded anew.
TEST_F(CudaGraphs, AContextRemembersTheLastCalls) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 2);
  for (int64_t n = 1; n <= 40; ++n) Chain(context, 100 + n).expect_right();
  EXPECT_EQ(calls("cuGraphExecDestroy"), 1);
  chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 2);
  chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 3);
}

TEST_F(CudaGraphs, IntegersAreCheckedEachTime) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  const std::vector<float> before = chain.result();
  chain.index()[2] = 5;
  chain.x()[0] = 1000;
  EXPECT_EQ(chain.call(), ATTN_BAD_DATA);
  EXPECT_EQ(context.message(), "index: reads x at 0..5, must be in 0..4; index[2] is 5");
  EXPECT_EQ(chain.result(), before);
  chain.index()[2] = 2;
  chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 3);
}

// What a kernel takes between its launches is nobody else's while there is the graph.
TEST_F(CudaGraphs, AGraphKeepsTheMemoryOfItsKernels) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  const uint64_t kept = chain_scratch();
  void* others[20];
  for (void*& other : others) {
    other = attn_device_allocate(context, 20);
    EXPECT_NE(reinterpret_cast<uint64_t>(other), kept);
  }
  chain.expect_right();
  for (void* other : others) attn_device_free(context, other);
  // Without the graph it is free again.
  attn_context_set_launch_graphs(context, 0);
  const int allocated = calls("cuMemAlloc");
  bool is_free = false;
  for (void*& other : others) {
    other = attn_device_allocate(context, 20);
    is_free = is_free || reinterpret_cast<uint64_t>(other) == kept;
  }
  EXPECT_TRUE(is_free);
  EXPECT_EQ(calls("cuMemAlloc"), allocated);
  for (void* other : others) attn_device_free(context, other);
}

TEST_F(CudaGraphs, TrimGivesTheirMemoryBack) {
  Owned context(on(0));
  {
    Chain chain(context);
    for (int k = 0; k < 3; ++k) chain.expect_right();
  }
  attn_context_trim(context);
  EXPECT_EQ(fake_cuda::device_bytes(), 0u);
  EXPECT_EQ(calls("cuGraphExecDestroy"), 1);
}

TEST_F(CudaGraphs, WantOfMemoryGivesThemUp) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  attn_context_trim(context);
  chain.expect_right();  // recorded again: the device has no other free memory
  fake_cuda::fail("cuMemAlloc", 1, 2);
  void* memory = attn_device_allocate(context, 1 << 20);
  EXPECT_NE(memory, nullptr);
  EXPECT_EQ(calls("cuGraphExecDestroy"), 2);
  attn_device_free(context, memory);
  for (int k = 0; k < 2; ++k) chain.expect_right();
}

TEST_F(CudaGraphs, TheyHaveAtMostPoolBytes) {
  attn_context_options options = on(0);
  options.pool_bytes = -1;
  Owned context(options);
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 0);
}

TEST_F(CudaGraphs, ACallerMayWantNone) {
  Owned context(on(0));
  attn_context_set_launch_graphs(context, 0);
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuStreamBeginCapture"), 0);
  attn_context_set_launch_graphs(context, 1);
  for (int k = 0; k < 2; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 1);
  attn_context_set_launch_graphs(nullptr, 1);
}

TEST_F(CudaGraphs, ATraceSeesEveryKernel) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  int events = 0;
  attn_context_set_trace(
      context, [](void* data, const attn_trace_event*) { ++*static_cast<int*>(data); }, &events);
  chain.expect_right();
  EXPECT_EQ(events, 8);  // the check, y, five steps, the call
  attn_context_set_trace(context, nullptr, nullptr);
  chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 3);
}

// ---- what cannot be recorded is done without a graph, and nobody is told

TEST_F(CudaGraphs, WhatCannotBeRecordedIsDoneWithout) {
  const std::pair<const char*, int> failures[] = {
      {"cuStreamIsCapturing", 2}, {"cuStreamBeginCapture", 2}, {"cuStreamEndCapture", 2},
      {"cuGraphGetNodes", 2},     {"cuGraphInstantiate", 1},   {"cuGraphLaunch", 1},
      {"cuLaunchKernel", 3}};
  for (const auto& [function, n] : failures) {
    std::string logged;
    attn_context_options options = on(0);
    options.log_data = &logged;
    options.log = [](void* data, attn_log_level, const char* text) {
      *static_cast<std::string*>(data) = text;
    };
    Owned context(options);
    Chain chain(context);
    chain.expect_right();
    const int before = calls("cuGraphLaunch");
    // Where the kernels after the check are recorded.
    fake_cuda::fail(function, n, 1);
    for (int k = 0; k < 3; ++k) chain.expect_right();
    EXPECT_LE(calls("cuGraphLaunch"), before + 1) << function;
    EXPECT_EQ(logged, "") << function;
    EXPECT_EQ(context.message(), "") << function;
  }
}

TEST_F(CudaGraphs, TheStreamOfRecordingsMayBeWanting) {
  Owned context(on(0));
  Chain chain(context);
  chain.expect_right();
  for (int n : {1, 2}) fake_cuda::fail("cuStreamCreate", n, 2);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 0);
}

TEST_F(CudaGraphs, AFailureHasItsTextAlsoWhileRecording) {
  Owned context(on(0));
  Chain chain(context);
  chain.expect_right();
  // In the recording of the check, then when the check is done without a graph.
  fake_cuda::fail("cuLaunchKernel", 1, 701);
  fake_cuda::fail("cuLaunchKernel", 2, 701);
  EXPECT_EQ(chain.call(), ATTN_BAD_DEVICE);
  EXPECT_EQ(context.message(),
            "cuda:0: kernel check index: 1 blocks x 1 x 1 of 32 threads with 32 registers each and "
            "0 bytes of shared memory are too much: at most 1024 threads, 65536 registers and "
            "166912 bytes a block (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)");
  for (int k = 0; k < 2; ++k) chain.expect_right();
}

TEST_F(CudaGraphs, ALostDeviceIsLostInAGraphToo) {
  for (const char* function : {"cuStreamEndCapture", "cuGraphLaunch", "cuGraphInstantiate"}) {
    {
      Owned context(on(0));
      Chain chain(context);
      chain.expect_right();
      fake_cuda::fail(function, 1, 214);
      EXPECT_EQ(chain.call(), ATTN_BAD_DEVICE) << function;
      EXPECT_EQ(context.message(),
                "cuda:0 is lost (CUDA_ERROR_ECC_UNCORRECTABLE, 214): calls need a new context, and "
                "may need a new process");
    }
    fake_cuda::reset();  // what a lost context had goes with its process
    set_chain_kernels();
  }
}

TEST_F(CudaGraphs, AStreamThatTheCallerRecordsGetsNoGraph) {
  void* theirs = fake_cuda::make_context(40);
  attn_context_options options = on(0);
  options.cuda_context = theirs;
  options.cuda_stream = fake_cuda::make_stream(theirs);
  {
    Owned context(options);
    Chain before(context), meanwhile(context);
    for (int k = 0; k < 3; ++k) before.expect_right();
    EXPECT_EQ(calls("cuGraphLaunch"), 2);
    fake_cuda::set_recorded(options.cuda_stream, true);
    before.expect_right();
    for (int k = 0; k < 3; ++k) meanwhile.expect_right();
    EXPECT_EQ(calls("cuGraphLaunch"), 2);
    fake_cuda::set_recorded(options.cuda_stream, false);
  }
  fake_cuda::reset();
}

// It cannot be recorded itself.
TEST_F(CudaGraphs, TheDefaultStreamHasThemToo) {
  attn_context_options options = on(0);
  options.cuda_stream = fake_cuda::kDefaultStream;
  Owned context(options);
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  EXPECT_EQ(calls("cuGraphLaunch"), 2);
}

// Code that is loaded again with fewer registers takes the graphs with it that have its functions.
TEST_F(CudaGraphs, CodeThatIsReplacedTakesItsGraphs) {
  Owned context(on(0));
  Chain chain(context);
  for (int k = 0; k < 3; ++k) chain.expect_right();
  fake_cuda::set_kernel("one", OneKernel::kernel(200));
  OneKernel kernel{.threads = {1024, 1, 1}};
  void* memory = attn_device_allocate(context, 4);
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(calls("cuGraphExecDestroy"), 1);
  for (int k = 0; k < 2; ++k) chain.expect_right();
  attn_device_free(context, memory);
}

TEST_F(CudaGraphs, EmptyTensorsHaveTheirRowsEachTime) {
  Owned context(on(0));
  Chain none(context, 0), one(context, 1);
  for (int k = 0; k < 4; ++k) {
    none.expect_right();
    one.expect_right();
  }
}

// ---- training

TEST_F(CudaGraphs, AStepIsOneLaunch) {
  attn::Context there(on(0)), here(1);
  attn::Model device(there, device_model()), host(here, fake_model());
  attn::Tensor x(ATTN_F32, {5, 3}), target(ATTN_F32, {5});
  for (int k = 0; k < 15; ++k) x.data<float>()[k] = static_cast<float>(k * k % 7);
  for (attn::Model* model : {&device, &host}) {
    EXPECT_TRUE(model->init(1, {{"D", 3}}));
    for (int round = 0; round < 6; ++round) {
      const double lr = 0.01 * round;  // its value is no part of the graph
      for (attn::Status status :
           {model->forward({x, target}), model->backward(), model->step({{"lr", lr}})})
        EXPECT_TRUE(status) << status.text();
    }
  }
  // Backward and step from the second on; the memory of the first backward call is another's.
  EXPECT_GE(calls("cuGraphLaunch"), 8);
  for (const char* name : {"w", "c"}) {
    attn::Result<attn::Tensor> trained = device.param(name).to_host(there);
    ASSERT_TRUE(trained) << trained.text();
    for (int64_t k = 0; k < trained->count(); ++k)
      EXPECT_EQ(trained->data<float>()[k], host.param(name).data<float>()[k]);
  }
}

// Options of some parameters are copied between the updates: such steps are not recorded.
TEST_F(CudaGraphs, OptionsOfEachParameterHoldInEveryStep) {
  attn::Context there(on(0)), here(1);
  attn::Model device(there, device_model()), host(here, fake_model());
  attn::Tensor x(ATTN_F32, {5, 3}), target(ATTN_F32, {5});
  for (int k = 0; k < 15; ++k) x.data<float>()[k] = static_cast<float>(k * k % 7);
  for (attn::Model* model : {&device, &host}) {
    EXPECT_TRUE(model->init(1, {{"D", 3}}));
    for (int round = 0; round < 4; ++round) {
      EXPECT_TRUE(model->forward({x, target}));
      EXPECT_TRUE(model->backward());
      EXPECT_TRUE(model->step({{"lr", 0.01}}, {{.pattern = "c", .options = {{"lr", 0.5}}}}));
    }
  }
  for (const char* name : {"w", "c"}) {
    attn::Result<attn::Tensor> trained = device.param(name).to_host(there);
    ASSERT_TRUE(trained) << trained.text();
    for (int64_t k = 0; k < trained->count(); ++k)
      EXPECT_EQ(trained->data<float>()[k], host.param(name).data<float>()[k]);
  }
}

}  // namespace
