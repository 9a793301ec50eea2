// A name that is read above its definition: says where it is defined, and shows the cycle where
// definitions need each other.
#include <fmt/format.h>

#include <algorithm>

#include "compiler/elaborate/statement.h"

namespace attn::elaborate {
namespace {

void collect(const dsl::ExprPtr& e, std::set<std::string>& names) {
  if (!e) return;
  if (const auto* x = std::get_if<dsl::Name>(&e->node)) names.insert(x->text);
  if (const auto* x = std::get_if<dsl::Access>(&e->node)) names.insert(x->tensor.text);
  for (const dsl::ExprPtr& part : dsl::parts(*e)) collect(part, names);
}

struct Defined {
  Span where;
  bool has_leading = false;  // `...` on its left side
  std::set<std::string> reads;
};

// What each name of a body is computed from.
std::map<std::string, Defined> definitions_of(const Scope& scope) {
  std::map<std::string, Defined> result;
  for (const dsl::Statement* s : scope.statements) {
    if (const auto* d = std::get_if<dsl::Definition>(&s->node)) {
      Defined entry{d->target.where, d->leading, {}};
      collect(d->value, entry.reads);
      collect(d->condition, entry.reads);
      result.emplace(d->target.text, std::move(entry));
    } else if (const auto* c = std::get_if<dsl::BlockCall>(&s->node)) {
      Defined entry;
      for (const dsl::Argument& a : c->arguments) collect(a.value, entry.reads);
      for (const dsl::Identifier& r : c->results) {
        entry.where = r.where;
        result.emplace(r.text, entry);
      }
    }
  }
  return result;
}

// A way from one name to another along what they read; empty where there is none.
std::vector<std::string> path(const std::map<std::string, Defined>& all, const std::string& from,
                              const std::string& to) {
  std::map<std::string, std::string> came;
  std::vector<std::string> queue{from};
  for (size_t k = 0; k < queue.size(); ++k) {
    const std::string here = queue[k];
    if (here == to) {
      std::vector<std::string> way{to};
      while (way.back() != from) way.push_back(came.at(way.back()));
      std::reverse(way.begin(), way.end());
      return way;
    }
    auto it = all.find(here);
    if (it == all.end()) continue;
    for (const std::string& next : it->second.reads)
      if (next != from && came.emplace(next, here).second) queue.push_back(next);
  }
  return {};
}

constexpr const char* kOnlyAbove =
    "a definition reads only what stands above it; inside `scan t: T { … }` also what the step "
    "before has given";

constexpr const char* kNoDots = "name the indices of what is read one step back, instead of `...`";

}  // namespace

bool report_order(ModelState& model, Scope& scope, const dsl::Definition& reader,
                  const std::string& name, Span where) {
  const std::string& target = reader.target.text;
  if (name == target) {
    Diagnostic& d = model.error(where, fmt::format("`{}` is defined by itself", name));
    d.others.push_back({reader.target.where, "its definition"});
    d.help = reader.leading && scope.scan_around() ? kNoDots : kOnlyAbove;
    return true;
  }
  for (const Scope* s = &scope; s; s = s->outer) {
    const auto all = definitions_of(*s);
    auto found = all.find(name);
    if (found == all.end()) continue;
    const std::vector<std::string> way = path(all, name, target);
    if (way.empty()) {
      Diagnostic& d = model.error(where, fmt::format("`{}` is read above its definition", name));
      d.others.push_back({found->second.where, "defined here"});
      d.help = found->second.has_leading && scope.scan_around()
                   ? kNoDots
                   : fmt::format("move the definition of `{}` above that of `{}`", name, target);
      return true;
    }
    std::string chain = fmt::format("`{}` reads `{}`", target, name);
    for (size_t k = 0; k + 1 < way.size(); ++k)
      chain += fmt::format(", `{}` reads `{}`", way[k], way[k + 1]);
    Diagnostic& d = model.error(where, "definitions need each other in a cycle");
    d.primary.text = chain;
    for (const std::string& step : way) {
      if (step == target) continue;
      d.others.push_back({all.at(step).where, fmt::format("`{}`", step)});
      // The cycle is reported once, not at each of its definitions.
      scope.names[step] = {.kind = Binding::Kind::poisoned, .where = where};
    }
    const bool has_dots =
        std::ranges::any_of(way, [&](const std::string& step) { return all.at(step).has_leading; });
    d.help = has_dots && scope.scan_around() ? kNoDots : kOnlyAbove;
    return true;
  }
  return false;
}

}  // namespace attn::elaborate
