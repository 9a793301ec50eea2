// Greedy: the first smaller neighbour that fails takes the place of the program, the greatest
// changes being tried first. Every program is printed anew, so that places in its tree are places
// in its text.
#include "tests/support/shrink.h"

#include <fmt/format.h>

#include <optional>

#include "dsl/parse.h"
#include "dsl/print.h"

namespace attn::testing {
namespace {

using dsl::ExprPtr;
using dsl::Statement;
using Programs = std::vector<RandomProgram>;

std::optional<dsl::File> parsed(const std::string& text) {
  SourceMap sources;
  Diagnostics diagnostics;
  dsl::File tree = dsl::parse(sources, sources.add("program", text), diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return tree;
}

// ---- what can be taken out of a list

// The neighbours of one program by changes of its tree.
class Edits {
 public:
  explicit Edits(const RandomProgram& program) : program_(program) {
    if (auto tree = parsed(program.text)) tree_ = std::move(*tree);
  }

  // Outputs first: what only they read can go then.
  Programs of_outputs() {
    for (dsl::Item& item : tree_.items)
      if (auto* block = std::get_if<dsl::Block>(&item.node))
        if (block->outputs.size() > 1) without_each(block->outputs);
    return std::move(all_);
  }

  Programs of_statements() {
    for (dsl::Item& item : tree_.items)
      if (auto* block = std::get_if<dsl::Block>(&item.node)) statements(block->body);
    without_each(tree_.items);
    return std::move(all_);
  }

  Programs of_declarations() {
    for (dsl::Item& item : tree_.items) {
      if (auto* block = std::get_if<dsl::Block>(&item.node)) {
        without_each(block->inputs);
        for (dsl::Output& output : block->outputs) without(output.type, dsl::Type{});
        for (dsl::Input& input : block->inputs) without(input.type.dtype, {});
        parameters(block->body);
      }
      if (auto* sizes = std::get_if<dsl::SizeStatement>(&item.node))
        if (sizes->sizes.size() > 1) without_each(sizes->sizes);
    }
    return std::move(all_);
  }

  Programs of_sizes() {
    for (dsl::Item& item : tree_.items)
      if (auto* statement = std::get_if<dsl::SizeStatement>(&item.node))
        for (dsl::Size& size : statement->sizes) lower(size.value);
    return std::move(all_);
  }

 private:
  void add() {
    RandomProgram smaller = program_;
    smaller.text = dsl::print(tree_);
    if (smaller.text != program_.text) all_.push_back(std::move(smaller));
  }

  // The tree with `place` being `value` for once.
  template <typename T>
  void without(T& place, T value) {
    std::swap(place, value);
    add();
    std::swap(place, value);
  }

  // From the last to the first: what is read stands above.
  template <typename T>
  void without_each(std::vector<T>& list) {
    for (size_t k = list.size(); k-- > 0;) {
      std::vector<T> fewer = list;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(k));
      without(list, std::move(fewer));
    }
  }

  void statements(std::vector<Statement>& body) {
    without_each(body);
    for (Statement& s : body) {
      if (auto* definition = std::get_if<dsl::Definition>(&s.node)) {
        without(definition->condition, ExprPtr());
        without(definition->start, ExprPtr());
      } else if (auto* repeat = std::get_if<dsl::Repeat>(&s.node)) {
        lower(repeat->count);
        statements(repeat->body);
      } else if (auto* scan = std::get_if<dsl::Scan>(&s.node)) {
        statements(scan->body);
      }
    }
  }

  void parameters(std::vector<Statement>& body) {
    for (Statement& s : body)
      if (auto* list = std::get_if<dsl::ParamStatement>(&s.node)) {
        if (list->params.size() > 1) without_each(list->params);
        for (dsl::Param& p : list->params) without(p.type.dtype, {});
      }
  }

  void lower(ExprPtr& value) {
    const auto* number = value ? std::get_if<dsl::Number>(&value->node) : nullptr;
    if (!number || !number->is_integer()) return;
    const int64_t n = number->integer();
    for (int64_t smaller : {int64_t{1}, n / 2, n - 1})
      if (smaller >= 1 && smaller < n) without(value, dsl::make_number(smaller));
  }

  const RandomProgram& program_;
  dsl::File tree_;
  Programs all_;
};

// ---- what can stand for an expression

// The neighbours of one program with one expression replaced.
class Replacements {
 public:
  explicit Replacements(const RandomProgram& program) : program_(program) {}

  Programs all() {
    if (const auto tree = parsed(program_.text))
      for (const dsl::Item& item : tree->items)
        if (const auto* block = std::get_if<dsl::Block>(&item.node)) statements(block->body);
    return std::move(all_);
  }

 private:
  void statements(const std::vector<Statement>& body) {
    for (size_t k = body.size(); k-- > 0;) {
      if (const auto* definition = std::get_if<dsl::Definition>(&body[k].node)) {
        expression(definition->value);
        expression(definition->condition);
        expression(definition->start);
      } else if (const auto* repeat = std::get_if<dsl::Repeat>(&body[k].node)) {
        statements(repeat->body);
      } else if (const auto* scan = std::get_if<dsl::Scan>(&body[k].node)) {
        statements(scan->body);
      }
    }
  }

  void replace(const ExprPtr& e, const std::string& text) {
    RandomProgram smaller = program_;
    smaller.text.replace(e->where.begin, e->where.end - e->where.begin, text);
    const auto tree = parsed(smaller.text);
    if (!tree) return;
    smaller.text = dsl::print(*tree);
    // A printed part may be longer than the whole in blanks alone.
    if (smaller.text.size() < program_.text.size()) all_.push_back(std::move(smaller));
  }

  // The expression by 1 and by each of its parts, then the parts by theirs.
  void expression(const ExprPtr& e) {
    if (!e) return;
    const std::vector<ExprPtr> inner = dsl::parts(*e);
    if (!std::holds_alternative<dsl::Number>(e->node)) replace(e, "1");
    for (const ExprPtr& part : inner) replace(e, fmt::format("({})", dsl::print(part)));
    if (const auto* chain = std::get_if<dsl::Chain>(&e->node)) shorter(e, *chain);
    if (const auto* reduction = std::get_if<dsl::Reduction>(&e->node); reduction)
      if (reduction->condition) {
        dsl::Reduction free = *reduction;
        free.condition = nullptr;
        replace(e, fmt::format("({})", dsl::print(dsl::make(free))));
      }
    for (const ExprPtr& part : inner) expression(part);
  }

  // A chain of three or more without one of its operands.
  void shorter(const ExprPtr& e, const dsl::Chain& chain) {
    if (chain.operands.size() < 3) return;
    for (size_t k = 0; k < chain.operands.size(); ++k) {
      dsl::Chain rest = chain;
      rest.operands.erase(rest.operands.begin() + static_cast<std::ptrdiff_t>(k));
      rest.ops.erase(rest.ops.begin() + static_cast<std::ptrdiff_t>(k ? k - 1 : 0));
      replace(e, fmt::format("({})", dsl::print(dsl::make(rest))));
    }
  }

  const RandomProgram& program_;
  Programs all_;
};

// ---- calls

Programs fewer_calls(const RandomProgram& program) {
  Programs all;
  if (program.calls.size() > 1)
    for (const auto& call : program.calls) {
      all.push_back(program);
      all.back().calls = {call};
    }
  return all;
}

Programs smaller_calls(const RandomProgram& program) {
  Programs all;
  for (size_t k = 0; k < program.calls.size(); ++k)
    for (const auto& [name, value] : program.calls[k])
      for (int64_t smaller : {int64_t{0}, int64_t{1}, value / 2, value - 1})
        if (smaller >= 0 && smaller < value) {
          all.push_back(program);
          all.back().calls[k][name] = smaller;
        }
  return all;
}

Programs statements_of(const RandomProgram& p) { return Edits(p).of_statements(); }
Programs outputs_of(const RandomProgram& p) { return Edits(p).of_outputs(); }
Programs declarations_of(const RandomProgram& p) { return Edits(p).of_declarations(); }
Programs sizes_of(const RandomProgram& p) { return Edits(p).of_sizes(); }
Programs replacements_of(const RandomProgram& p) { return Replacements(p).all(); }

}  // namespace

RandomProgram shrink(RandomProgram program, const Fails& fails, int tries) {
  // Printed once, a program differs from its neighbours by what was changed alone.
  if (const auto tree = parsed(program.text)) {
    RandomProgram printed = program;
    printed.text = dsl::print(*tree);
    if (fails(printed)) program = printed;
  }
  bool smaller = true;
  while (smaller) {
    smaller = false;
    for (auto* neighbours : {fewer_calls, outputs_of, statements_of, replacements_of,
                             declarations_of, sizes_of, smaller_calls}) {
      Programs all = neighbours(program);
      for (size_t k = 0; k < all.size();) {
        if (tries-- <= 0) return program;
        if (!fails(all[k])) {
          ++k;
          continue;
        }
        program = all[k];
        smaller = true;
        // Those before k have been tried, and few of them would fail now.
        all = neighbours(program);
      }
    }
  }
  return program;
}

}  // namespace attn::testing
