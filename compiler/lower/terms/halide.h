// The names of Halide that lowering uses everywhere, without their namespaces.
#pragma once

#include <Halide.h>

namespace attn::lower {

using Halide::cast;
using Halide::Expr;
using Halide::Func;
using Halide::FuncRef;
using Halide::ImageParam;
using Halide::LoopLevel;
using Halide::Param;
using Halide::RDom;
using Halide::RVar;
using Halide::Stage;
using Halide::TailStrategy;
using Halide::Tuple;
using Halide::Type;
using Halide::undef;
using Halide::Var;
using Halide::VarOrRVar;
using Halide::Internal::const_false;
using Halide::Internal::const_true;
using Halide::Internal::is_const;
using Halide::Internal::make_const;
using Halide::Internal::make_one;
using Halide::Internal::make_zero;
using Halide::Internal::simplify;

}  // namespace attn::lower
