// The model of tests/runtime/fake_model.h with kernels that are launched on CUDA, as those of
// generated code are: by attn_k_cuda_run, from a host part of each.
#pragma once

#include <attn/program.h>

extern "C" {
int attn_k_cuda_initialize_kernels(void* user, void** state, const char* text, int bytes);
int attn_k_cuda_run(void* user, void* state, const char* entry, int blocks_x, int blocks_y,
                    int blocks_z, int threads_x, int threads_y, int threads_z, int shared_bytes,
                    const size_t* sizes, void** arguments, const int8_t* is_buffer);
int attn_k_device_malloc(void* context, struct attn_buffer* buffer, const void* interface);
int attn_k_device_free(void* context, struct attn_buffer* buffer);
}

// Tells the fake driver of the kernels; after each fake_cuda::reset().
void set_device_kernels();
const attn_model* device_model();
// What its kernels are compiled for.
attn_target& device_target();
// The text of the module of the first kernel; null: a good one.
void set_device_text(const char* text);
