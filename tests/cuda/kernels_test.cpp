// Kernels on CUDA: how they are loaded and launched, and what becomes of their failures.
#include <attn/device.h>
#include <attn/train.h>

#include <attn/attn.hpp>

#include "context.h"
#include "tests/runtime/fake_model.h"

namespace {

// What the C++ layer has trained, on the host.
std::vector<float> trained(attn::Context& context, const attn_model* description) {
  attn::Model model(context, description);
  attn::Tensor x(ATTN_F32, {5, 3}), target(ATTN_F32, {5});
  for (int k = 0; k < 15; ++k) x.data<float>()[k] = static_cast<float>(k * k % 7);
  EXPECT_TRUE(model.init(1, {{"D", 3}}));
  for (int round = 0; round < 3; ++round) {
    for (attn::Status status :
         {model.forward({x, target}), model.backward(), model.step({{"lr", 0.01}})})
      EXPECT_TRUE(status) << status.text();
  }
  std::vector<float> all;
  for (const attn::Tensor* t : std::initializer_list<const attn::Tensor*>{
           &model.param("w"), &model.gradient("w"), &model.output("y")}) {
    attn::Result<attn::Tensor> host = t->to_host(context);
    EXPECT_TRUE(host) << host.text();
    if (host) all.insert(all.end(), host->data<float>(), host->data<float>() + host->count());
  }
  return all;
}

TEST_F(Cuda, TrainsAModel) {
  attn::Context there(on(0)), here(1);
  EXPECT_EQ(trained(there, device_model()), trained(here, fake_model()));
  EXPECT_GT(fake_cuda::launches().size(), 10u);
}

TEST_F(Cuda, LaunchesWithShapeAndArguments) {
  fake_cuda::set_kernel("one", OneKernel::kernel());
  Owned context(on(0));
  void* memory = attn_device_allocate(context, 4);
  OneKernel kernel{.blocks = {3, 4, 5}, .threads = {8, 4, 2}, .shared_bytes = 1000};
  EXPECT_EQ(kernel.launch(context, memory, 77), 0);
  OneKernel empty{.state = kernel.state, .blocks = {3, 0, 5}};
  EXPECT_EQ(empty.launch(context, memory, 78), 0);
  int32_t value = 0;
  EXPECT_EQ(context.device().copy_out(context, &value, memory, 4), 0);
  EXPECT_EQ(value, 77);
  ASSERT_EQ(fake_cuda::launches().size(), 1u);
  const fake_cuda::Launch& launch = fake_cuda::launches()[0];
  EXPECT_EQ(launch.blocks[0] * 100 + launch.blocks[1] * 10 + launch.blocks[2], 345u);
  EXPECT_EQ(launch.threads[0] * 100 + launch.threads[1] * 10 + launch.threads[2], 842u);
  EXPECT_EQ(launch.shared_bytes, 1000u);
  attn_device_free(context, memory);
}

TEST_F(Cuda, LoadsATextOnceAContext) {
  fake_cuda::set_kernel("one", OneKernel::kernel());
  Owned context(on(0));
  OneKernel kernel, other;
  void* memory = attn_device_allocate(context, 4);
  for (int k = 0; k < 5; ++k) EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(other.launch(context, memory), 0);
  EXPECT_EQ(fake_cuda::calls("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(fake_cuda::calls("cuModuleGetFunction"), 2);
  EXPECT_EQ(fake_cuda::register_limits(), (std::vector<int>{0, 0}));
}

TEST_F(Cuda, AsksForMoreSharedMemoryThan48KB) {
  fake_cuda::set_kernel("one", OneKernel::kernel());
  Owned context(on(0));
  void* memory = attn_device_allocate(context, 4);
  OneKernel kernel{.shared_bytes = 48 << 10};
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(fake_cuda::calls("cuFuncSetAttribute"), 0);
  kernel.shared_bytes = 100 << 10;
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(fake_cuda::calls("cuFuncSetAttribute"), 1);
  kernel.shared_bytes = 200 << 10;
  EXPECT_NE(kernel.launch(context, memory), 0);
  EXPECT_EQ(context.message(),
            "1 blocks x 1 x 1 of 32 threads with 32 registers each and 204800 bytes of shared "
            "memory are too much: at most 1024 threads, 65536 registers and 166912 bytes a block "
            "(CUDA_ERROR_INVALID_VALUE, 1)");
}

TEST_F(Cuda, GivesLargeBlocksFewerRegisters) {
  fake_cuda::set_kernel("one", OneKernel::kernel(200));
  fake_cuda::set_kernel("two", OneKernel::kernel(30));
  Owned context(on(0));
  void* memory = attn_device_allocate(context, 4);
  OneKernel kernel{.threads = {256, 1, 1}};
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(kernel.launch(context, memory), 0);
  kernel.name = "two";
  EXPECT_EQ(kernel.launch(context, memory), 0);
  kernel.threads[0] = 1024;
  EXPECT_EQ(kernel.launch(context, memory), 0);
  kernel.name = "one";
  EXPECT_EQ(kernel.launch(context, memory), 0);
  EXPECT_EQ(fake_cuda::register_limits(), (std::vector<int>{0, 64}));
  kernel.threads[0] = 2048;
  EXPECT_NE(kernel.launch(context, memory), 0);
  EXPECT_EQ(context.message(),
            "1 blocks x 1 x 1 of 2048 threads with 64 registers each and 0 bytes of shared memory "
            "are too much: at most 1024 threads, 65536 registers and 166912 bytes a block "
            "(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)");
}

// ---- failures of a model's call

class CudaModel : public Cuda {
 protected:
  attn::Tensor x_{ATTN_F32, {5, 3}}, target_{ATTN_F32, {5}};
  // The status and text of a forward call.
  attn::Status forward(attn::Context& context, const attn_model* description = device_model()) {
    attn::Model model(context, description);
    const attn::Status begun = model.init(1, {{"D", 3}});
    return begun ? model.forward({x_, target_}) : begun;
  }
};

TEST_F(CudaModel, NamesTheKernelThatTheDriverRefuses) {
  set_device_text("bad");
  fake_cuda::set_log("ptxas: line 7: no such instruction");
  attn::Context context(on(0));
  const attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_BAD_DEVICE);
  EXPECT_EQ(status.text(),
            "cuda:0: kernel loops y loss: the driver refuses its code (CUDA_ERROR_INVALID_PTX, "
            "218): ptxas: line 7: no such instruction");
  set_device_text(nullptr);
  fake_cuda::fail("cuModuleLoadDataEx", 1, 222);
  EXPECT_EQ(forward(context).text(),
            "cuda:0: kernel loops y loss: the CUDA driver is too old for it "
            "(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)");
  EXPECT_TRUE(forward(context));
}

TEST_F(CudaModel, NamesTheKernelThatDoesNotFit) {
  attn::Context context(on(0));
  fake_cuda::fail("cuLaunchKernel", 1, 701);
  const attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_BAD_DEVICE);
  EXPECT_EQ(status.text(),
            "cuda:0: kernel loops y loss: 7 blocks x 1 x 1 of 64 threads with 32 registers each "
            "and 0 bytes of shared memory are too much: at most 1024 threads, 65536 registers and "
            "166912 bytes a block (CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)");
  EXPECT_TRUE(forward(context));
}

TEST_F(CudaModel, WantOfMemoryHasItsStatus) {
  attn::Context context(on(0));
  fake_cuda::fail("cuLaunchKernel", 1, 2);
  attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_NO_MEMORY);
  EXPECT_EQ(status.text(), "out of memory in loops y loss");
  fake_cuda::fail("cuMemcpyHtoDAsync", 1, 2);
  status = forward(context);
  EXPECT_EQ(status.code(), ATTN_NO_MEMORY);
  EXPECT_EQ(status.text(), "out of memory on cuda:0");
  attn_context_fail_allocation(context.get(), 1);
  EXPECT_EQ(forward(context).code(), ATTN_NO_MEMORY);
}

TEST_F(CudaModel, OtherFailuresNameWhatWasDone) {
  attn::Context context(on(0));
  fake_cuda::fail("cuMemcpyHtoDAsync", 1, 1);
  const attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_BAD_DEVICE);
  EXPECT_EQ(status.text(), "cuda:0: a copy to the device failed (CUDA_ERROR_INVALID_VALUE, 1)");
}

// A kernel fails after the call that began it: the next one says so, and every one after that.
TEST_F(CudaModel, ALostDeviceStaysLost) {
  const char* lost =
      "cuda:0 is lost (CUDA_ERROR_ILLEGAL_ADDRESS, 700), a kernel touched memory that is not "
      "there: calls need a new context, and may need a new process";
  attn::Context context(on(0));
  EXPECT_TRUE(forward(context));
  EXPECT_EQ(attn_context_wait(context.get()), ATTN_OK);
  OneKernel kernel;
  fake_cuda::set_kernel("one", OneKernel::kernel());
  EXPECT_EQ(kernel.launch(context.get(), nullptr, 0), 0);
  EXPECT_EQ(attn_context_wait(context.get()), ATTN_BAD_DEVICE);
  EXPECT_STREQ(attn_context_message(context.get()), lost);
  const int launches = fake_cuda::calls("cuLaunchKernel");
  attn::Model model(context, device_model());
  const attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_BAD_DEVICE);
  EXPECT_EQ(status.text(), lost);
  EXPECT_EQ(attn_context_wait(context.get()), ATTN_BAD_DEVICE);
  EXPECT_STREQ(attn_context_message(context.get()), lost);
  EXPECT_EQ(fake_cuda::calls("cuLaunchKernel"), launches);
  context = attn::Context(1);
  fake_cuda::reset();  // the memory of a lost context goes with its process
}

TEST_F(CudaModel, AKernelFindsTheDeviceLost) {
  attn::Context context(on(0));
  EXPECT_TRUE(forward(context));
  fake_cuda::fail("cuLaunchKernel", 1, 214);
  const attn::Status status = forward(context);
  EXPECT_EQ(status.code(), ATTN_BAD_DEVICE);
  EXPECT_EQ(status.text(),
            "cuda:0 is lost (CUDA_ERROR_ECC_UNCORRECTABLE, 214): calls need a new context, and may "
            "need a new process");
  context = attn::Context(1);
  fake_cuda::reset();
}

TEST_F(CudaModel, SaysWhatALibraryIsFor) {
  attn::Context context(on(0));
  attn::Status status = forward(context, fake_model());
  EXPECT_EQ(status.code(), ATTN_REFUSED);
  EXPECT_EQ(status.text(),
            "this library has no kernels for cuda:0; build it with --target cuda");
  device_target().capability = 90;
  status = forward(context);
  EXPECT_EQ(status.code(), ATTN_REFUSED);
  EXPECT_EQ(status.text(),
            "this library was built for cuda-sm80, compute capability 9.0 and later; cuda:0 has "
            "8.0");
  attn::Context host(1);
  EXPECT_EQ(forward(host, device_model()).text(),
            "this library has no kernels for the CPU; build it with --target host");
}

// The processor takes as many of a first dimension; nothing is touched.
TEST_F(CudaModel, RefusesTensorsThatItsKernelsCannotCount) {
  const int64_t sizes[] = {715827883, 3};  // times 3: 2^31 + 1
  attn_tensor tensors[6];
  ASSERT_EQ(attn_shapes(device_model(), sizes, tensors, tensors + 2, tensors + 4), ATTN_OK);
  uintptr_t address = 0;
  for (attn_tensor& t : tensors) {
    t.data = reinterpret_cast<void*>(address += uintptr_t{1} << 40);
    t.device = {ATTN_CUDA, 0};
  }
  const attn_block workspace = {reinterpret_cast<void*>(address + (uintptr_t{1} << 40)),
                                int64_t{1} << 36};
  Owned context(on(0));
  EXPECT_EQ(attn_forward(context, device_model(), tensors, tensors + 2, tensors + 4, {}, workspace),
            ATTN_REFUSED);
  EXPECT_EQ(context.message(),
            "kernels for cuda:0 take tensors of at most 2^31 - 1 elements; one has 2147483649");
  EXPECT_EQ(fake_cuda::calls("cuLaunchKernel"), 0);
}

}  // namespace
