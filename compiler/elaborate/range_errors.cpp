// What an index without a range is told.
#include <fmt/format.h>

#include "compiler/elaborate/statement.h"
#include "dsl/print.h"

namespace attn::elaborate {

void RangeFinder::report_rangeless(const Binder& binder, const std::string& word) {
  const std::string name = binder.name.empty() ? "..." : binder.name;
  Diagnostic& d = m_.error(binder.where.valid() ? binder.where : definition_.target.where,
                           fmt::format("nothing says what `{}` runs over", name));
  d.primary.text = fmt::format("no subscript is `{}` alone", name);
  const std::string range = binder.near.empty() ? "…" : binder.near;
  if (!binder.on_left) {
    d.help = fmt::format("give its range: `{}[{}: {}]`", word, binder.name, range);
    return;
  }
  std::string left;
  for (const dsl::Index& i : definition_.indices) {
    left += (left.empty() ? "" : ", ") + i.name.text;
    if (i.extent) left += ": " + dsl::print(i.extent);
    if (i.name.text == binder.name) left += ": " + range;
  }
  if (definition_.leading) left = "..., " + left;
  d.help = fmt::format("give its range: `{}[{}] = …`", definition_.target.text, left);
}

}  // namespace attn::elaborate
