// Small kernels in PTX, run by the fake driver's machine.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ptx_machine.h"

using Words = std::vector<uint32_t>;
constexpr uint64_t kData = uint64_t{1} << 62;

// An entry with parameters of 64 and 32 bits. When the body starts, %rd1 has the address of the
// data, %r1 the thread, and %rd2 the address of the thread's word of the data. There are 4 KB of
// shared memory at `box`. The body starts in line 8.
inline std::string kernel_text(const std::string& body) {
  return ".version 7.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry one(.param .u64 .ptr .align 1 one_param_0, .param .u32 one_param_1)\n{\n"
         ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .b64 %rd<19>; "
         ".shared .align 16 .b8 box[4096]; .local .align 8 .b8 depot[64];\n"
         "ld.param.b64 %rd1, [one_param_0]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; "
         "add.s64 %rd2, %rd2, %rd1;\n" +
         body + "\nret;\n}\n";
}

// Works on the data, which are the only memory of the device.
inline void run_kernel(const std::string& body, Words& data, unsigned threads = 32) {
  const ptx::Module module = ptx::parse(kernel_text(body));
  std::vector<char> arguments(12);
  memcpy(arguments.data(), &kData, 8);
  ptx::run(module, module.entries.at("one"), {{1, 1, 1}, {threads, 1, 1}, 0}, arguments,
           {{kData, data.size() * 4, reinterpret_cast<char*>(data.data())}});
}

// What it writes to the first words, from these.
inline Words result_of(const std::string& body, Words data, unsigned threads = 1) {
  run_kernel(body, data, threads);
  return data;
}

// The code and the text of what it does wrong; 0 without.
struct Found {
  int code = 0;
  std::string text;
};
inline Found found_in(const std::string& body, unsigned threads = 64, size_t words = 64) {
  Words data(words);
  try {
    run_kernel(body, data, threads);
  } catch (const ptx::Fault& fault) {
    return {fault.code, fault.what()};
  } catch (const ptx::TextError& error) {
    return {218, error.what()};
  }
  return {};
}
