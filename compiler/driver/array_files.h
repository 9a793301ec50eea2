// Arrays of .npy and .safetensors files, as `attnc run` reads and writes them.
#pragma once

#include <attn/attn.h>

#include <string>
#include <vector>

#include "compiler/evaluate/evaluate.h"
#include "compiler/ir/graph.h"

namespace attn::driver {

// The context of the runtime that files are read and written in. Throws SystemError.
class FileContext {
 public:
  FileContext();
  ~FileContext() { attn_context_destroy(context_); }
  FileContext(const FileContext&) = delete;
  FileContext& operator=(const FileContext&) = delete;

  attn_context* get() const { return context_; }
  // Throws what the context says of a call that failed: RefusedError or SystemError.
  void require(attn_status status) const;

 private:
  attn_context* context_ = nullptr;
};

// The elements of tensor `t` of the graph, in float64: those of a .npy file, or of the tensor of
// that name in a .safetensors file, or a number where the tensor has no dimensions. The file's type
// must be of the tensor's kind (real, integer or bool), every element one that the tensor's type
// holds, and the shape the tensor's as far as it is known when compiling.
evaluate::Array load_array(const FileContext& c, const ir::Graph& g, const ir::Tensor& t,
                           const std::string& path);

// The parameters that are not given yet, out of a checkpoint: a .safetensors file, an index of
// several, or a folder. Of a shape with dimensions merged they get the model's. What is not as in
// the model is a line of `notes`; what is missing too where it `may_miss`, else SystemError.
void load_weights(const FileContext& c, const ir::Graph& g, const std::string& path, bool may_miss,
                  evaluate::Arrays& given, std::vector<std::string>& notes);

// A number, or the one element of a file.
double load_scalar(const FileContext& c, const std::string& name, const std::string& text);

// Writes a .npy file; the elements are stored as `storage`, and f16 and bf16 as f32.
void save_array(const FileContext& c, const std::string& path, const evaluate::Array& a,
                ir::Storage storage);

}  // namespace attn::driver
