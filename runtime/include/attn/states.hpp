// The states of a model, in memory of a context's device. attn.hpp includes this.
#pragma once

#include <attn/buffers.hpp>

namespace attn {

// What a model that declares `state` remembers from call to call, one for each sequence of calls:
//   attn::States memory;
//   model.begin(memory, {{"B", 1}, {"S", 1024}});  // zeros
//   model.forward({token, at}, memory);            // changes them in place
class States {
 public:
  // In the order of the source; begin() makes them.
  const std::vector<Tensor>& tensors() const { return list_.tensors; }

 private:
  friend class Model;
  detail::List list_;
};

}  // namespace attn
