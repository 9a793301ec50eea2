// What the kernels of a call took, as a table.
#pragma once

#include <attn/attn.h>

#include <string>
#include <vector>

namespace attn::driver {

class Trace {
 public:
  // For attn_context_set_trace, whose data is a Trace.
  static void record(void* trace, const attn_trace_event* event);

  // A table for each function that was called.
  std::string text() const;

 private:
  struct Row {
    std::string name;
    int64_t calls = 0;
    double milliseconds = 0, bytes = 0, operations = 0;
    void add(const attn_trace_event& event);
  };
  struct Function {
    std::string name;
    std::vector<Row> kernels;  // by index; those without calls did not run
    Row whole;
  };
  static std::string line(const Row& row, size_t width, double all_milliseconds);

  std::vector<Function> functions_;
};

}  // namespace attn::driver
