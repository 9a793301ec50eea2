// From `update adamw(w, g, …) { … }` to graphs.
#pragma once

#include <map>
#include <optional>
#include <set>

#include "compiler/elaborate/model.h"
#include "compiler/ir/step.h"

namespace attn::elaborate {

// Elaborates each update once for each type of parameter, however many models use it.
class Updates {
 public:
  Updates(const SourceMap& sources, Diagnostics& diagnostics)
      : sources_(sources), diagnostics_(diagnostics) {}

  // The step of a model whose parameters have these types; nothing after an error.
  std::optional<ir::Step> step(const UpdateDeclaration& update,
                               const std::set<ir::Storage>& storages);

 private:
  struct Elaborated {
    ir::Step head;  // without graphs
    ir::Update update;
    bool reads_norm = false;
  };
  const std::optional<Elaborated>& elaborated(const UpdateDeclaration& update, ir::Storage storage);

  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  std::map<std::pair<const UpdateDeclaration*, ir::Storage>, std::optional<Elaborated>> known_;
};

}  // namespace attn::elaborate
