// Contexts on CUDA: how they come and go, whose they are, and who may not have one.
#include <sys/wait.h>
#include <unistd.h>

#include "context.h"

namespace {

TEST_F(Cuda, AContextRetainsThePrimaryOneAndGivesEverythingUp) {
  {
    Owned context(on(0));
    EXPECT_STREQ(context.device().name, "cuda:0");
    EXPECT_EQ(context.device().id.type, ATTN_CUDA);
    EXPECT_NE(fake_cuda::left(), "");
    EXPECT_EQ(fake_cuda::current(), nullptr);
    // Memory in use goes, too.
    EXPECT_NE(attn_device_allocate(context, 1000), nullptr);
    attn_device_free(context, attn_device_allocate(context, 5000));
    EXPECT_EQ(attn_context_wait(context), ATTN_OK);
  }
  EXPECT_EQ(fake_cuda::left(), "");
}

TEST_F(Cuda, TwoDevicesWorkInOneThread) {
  fake_cuda::set_devices(2);
  fake_cuda::set_kernel("one", OneKernel::kernel());
  Owned a(on(0)), b(on(1)), again(on(0));
  EXPECT_STREQ(b.device().name, "cuda:1");
  OneKernel kernel;  // one object, which each context loads for itself
  Owned* all[] = {&a, &b, &again};
  void* memory[3];
  for (int k = 0; k < 3; ++k) memory[k] = attn_device_allocate(*all[k], 4);
  for (int k = 0; k < 3; ++k) EXPECT_EQ(kernel.launch(*all[k], memory[k], 10 + k), 0);
  for (int k = 0; k < 3; ++k) {
    int32_t value = 0;
    EXPECT_EQ(all[k]->device().copy_out(*all[k], &value, memory[k], 4), 0);
    EXPECT_EQ(value, 10 + k);
    attn_device_free(*all[k], memory[k]);
  }
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadDataEx"), 3);
}

TEST_F(Cuda, TheCallersContextAndStreamAreUsedAndLeft) {
  fake_cuda::set_kernel("one", OneKernel::kernel());
  void* theirs = fake_cuda::make_context(40);
  void* stream = fake_cuda::make_stream(theirs);
  fake_cuda::push(theirs);  // of the caller, who has it current
  {
    attn_context_options options = on(0);
    options.cuda_context = theirs;
    options.cuda_stream = stream;
    Owned context(options);
    OneKernel kernel;
    void* memory = attn_device_allocate(context, 4);
    EXPECT_EQ(kernel.launch(context, memory, 3), 0);
    EXPECT_EQ(attn_context_wait(context), ATTN_OK);
    EXPECT_EQ(fake_cuda::current(), theirs);
    ASSERT_EQ(fake_cuda::launches().size(), 1u);
    EXPECT_EQ(fake_cuda::launches()[0].stream, stream);
    attn_device_free(context, memory);
  }
  EXPECT_EQ(fake_cuda::calls("cuDevicePrimaryCtxRetain"), 0);
  EXPECT_EQ(fake_cuda::calls("cuStreamCreate"), 0);
  EXPECT_EQ(fake_cuda::current(), theirs);
  EXPECT_EQ(fake_cuda::left(), "1 contexts on the stack\n");
  fake_cuda::reset();
}

TEST_F(Cuda, TheCallersContextIsOfTheDevice) {
  fake_cuda::set_devices(2);
  attn_context_options options = on(0);
  options.cuda_context = fake_cuda::make_context(41);
  EXPECT_EQ(refusal(options), "options.cuda_context is of another device than the options name");
  options.device = {ATTN_CPU, 0};
  EXPECT_EQ(refusal(options),
            "options.cuda_context and options.cuda_stream are for devices of ATTN_CUDA");
}

TEST_F(Cuda, SaysWhyADeviceCannotBeHad) {
  EXPECT_EQ(attn_device_refusal({ATTN_CUDA, 0}), nullptr);
  EXPECT_EQ(refusal(on(1)), "there is one CUDA device, of ordinal 0");
  EXPECT_EQ(refusal(on(-1)), "there is one CUDA device, of ordinal 0");
  fake_cuda::set_devices(3);
  EXPECT_EQ(refusal(on(3)), "there are 3 CUDA devices, of ordinals 0 to 2");
  fake_cuda::set_devices(20);
  EXPECT_EQ(refusal(on(20)), "there are more than 8 CUDA devices, and none of this ordinal");
  fake_cuda::set_devices(0);
  EXPECT_EQ(refusal(on(0)), "there is no CUDA device");
  fake_cuda::set_devices(1);
  fake_cuda::fail("cuInit", 1, 100);
  EXPECT_EQ(refusal(on(0)), "there is no CUDA device");
  fake_cuda::fail("cuInit", 1, 803);
  EXPECT_EQ(refusal(on(0)),
            "the CUDA driver's library and its kernel module are of different versions");
  fake_cuda::fail("cuInit", 1, 3);
  EXPECT_EQ(refusal(on(0)),
            "the CUDA driver does not start in a child of a process that has used it");
  fake_cuda::fail("cuInit", 1, 999);
  EXPECT_EQ(refusal(on(0)), "the CUDA driver does not start: `nvidia-smi` may say why");
  fake_cuda::set_driver(10020);
  EXPECT_EQ(refusal(on(0)), "the CUDA driver is older than that of CUDA 11.0");
}

TEST_F(Cuda, AContextThatCannotBeMadeLeavesNothing) {
  const char* functions[] = {"cuDevicePrimaryCtxRetain", "cuCtxPushCurrent", "cuCtxGetDevice",
                             "cuStreamCreate",           "cuMemAllocHost",   "cuDeviceGet"};
  for (const char* function : functions) {
    fake_cuda::fail(function, 1, 2);
    EXPECT_NE(refusal(on(0)), "") << function;
    EXPECT_EQ(fake_cuda::left(), "") << function;
  }
  const Owned context(on(0));
}

TEST_F(Cuda, AChildHasNothingOfTheDevice) {
  Owned context(on(0));
  void* memory = attn_device_allocate(context, 100);
  const pid_t child = fork();
  if (child == 0) {
    const int calls = fake_cuda::calls("cuStreamSynchronize");
    const bool is_refused = attn_context_wait(context) == ATTN_BAD_DEVICE;
    const bool has_text = context.message() ==
                          "cuda:0 is of the process that created the context, not of its children";
    attn_device_free(context, memory);
    attn_context_destroy(context);
    _exit(is_refused && has_text && calls == fake_cuda::calls("cuStreamSynchronize") ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(attn_context_wait(context), ATTN_OK);
  attn_device_free(context, memory);
}

}  // namespace
