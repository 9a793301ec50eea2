// The computation graph as boxes and arrows.
#pragma once

#include <set>
#include <string>

#include "compiler/report/report.h"

namespace attn::report {

// A box for each quantity that the model's text defines and for each input; parameters stand in the
// boxes that read them. `places` says where forward keeps what. `of_f`: the outputs lead to a
// function f of theirs, by which one derives.
Drawing draw_model(const ir::Graph& written, const FunctionReport& places, bool of_f);

// A box for each definition of a derivative that the forward graph has not. What it reads of
// forward, and parameters, stand in its boxes.
Drawing draw_derivative(plan::FunctionKind kind, const ir::Graph& g, const ir::Graph& forward,
                        const FunctionReport* places);

// As an SVG element without fixed colours: classes say what things are.
std::string svg(const Drawing& drawing);

}  // namespace attn::report
