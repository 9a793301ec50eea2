// Running sums: each result is the one before it and one more term.
#pragma once

#include "compiler/lower/forms/loops.h"

namespace attn::lower {

// `form.along` is valid. The sums are in `running`, one update over `vars`, and `out` reads them.
LoopsSpec running_spec(const Scope& scope, const plan::LoopsForm& form);

}  // namespace attn::lower
