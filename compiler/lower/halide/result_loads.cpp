#include <set>
#include <string>

#include "compiler/lower/halide/passes.h"

namespace attn::lower {
namespace {

using Halide::Internal::Load;

class Unalign : public Halide::Internal::IRMutator {
 public:
  explicit Unalign(std::set<std::string> results) : results_(std::move(results)) {}

 private:
  using IRMutator::visit;

  Expr visit(const Load* load) override {
    Expr e = IRMutator::visit(load);
    load = e.as<Load>();
    if (!load || !results_.count(load->name)) return e;
    return Load::make(load->type, load->name, load->index, load->image, load->param,
                      load->predicate, Halide::Internal::ModulusRemainder());
  }

  std::set<std::string> results_;
};

}  // namespace

void unalign_result_loads(Halide::Pipeline& pipeline) {
  std::set<std::string> results;
  for (const Func& f : pipeline.outputs()) {
    results.insert(f.name());
    for (int k = 0; k < f.outputs(); ++k) results.insert(f.name() + "." + std::to_string(k));
  }
  pipeline.add_custom_lowering_pass(new Unalign(std::move(results)));
}

}  // namespace attn::lower
