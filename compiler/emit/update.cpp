// The tables of a model's update: a model for each type of parameter, and for each type of gradient
// whose norm is taken.
#include <fmt/format.h>

#include "compiler/emit/model.h"

namespace attn::emit {
namespace {

using namespace ir;

// Long enough that what is computed once a row costs nothing, short enough for the first cache.
constexpr int kRowElements = 2048;

// The models' tables; a row for each in `list`.
template <class Parts>
std::string write_parts(const std::vector<plan::Plan>& plans, const Parts& parts,
                        const Symbols& symbols, std::vector<std::string>& list) {
  std::string text;
  for (size_t k = 0; k < plans.size(); ++k) {
    const Interface own = interface_of(plans[k]);
    text += write_tables(plans[k], nullptr, 0, own, symbols);
    list.push_back(fmt::format("{{{}, &{}_description}}", c_type(parts[k].storage), own.model));
  }
  return text;
}

// The scalars of the update, in the order of its arguments.
std::vector<std::string> scalars(const Step& step) {
  std::vector<std::string> list;
  for (const Tensor& t : step.updates.at(0).graph.tensors) {
    if (t.role != Role::input || !t.extents.empty()) continue;
    std::string one = t.name == kStepCount ? "ATTN_STEP_COUNT" : "ATTN_STEP_NORM";
    for (size_t k = 0; k < step.options.size(); ++k)
      if (step.options[k].name == t.name) one = std::to_string(k);
    list.push_back(one);
  }
  return list;
}

}  // namespace

std::string write_update(const plan::UpdatePlan& plan, const Interface& i, const Symbols& symbols) {
  std::vector<std::string> updates, norms;
  const std::string text = write_parts(plan.updates, plan.step.updates, symbols, updates) +
                           write_parts(plan.norms, plan.step.norms, symbols, norms);
  return text + table("attn_step_program", i.model + "_step_program",
                      {rows("attn_update", "updates", updates), rows("attn_update", "norms", norms),
                       rows("int32_t", "scalars", scalars(plan.step)),
                       fmt::format(".columns = {},", kRowElements)});
}

}  // namespace attn::emit
