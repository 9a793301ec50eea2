#include "dsl/print.h"

#include <algorithm>
#include <utility>

#include "dsl/comments.h"
#include "dsl/print_expression.h"

namespace attn::dsl {
namespace {

constexpr size_t kStep = 2;          // indentation of a body
constexpr size_t kContinuation = 4;  // of the further lines of a statement
constexpr size_t kMaxPadding = 3;    // what may be spent on lining up `=`

Layout layout_type(const Type& type) {
  Layout layout;
  layout.add(type.dtype.text);
  if (type.bracketed)
    layout.add("[").append(layout_extents(type.leading, type.extents, 5)).add("]");
  return layout;
}

Layout layout_size(const Size& size) {
  Layout layout;
  layout.add(size.name.text);
  if (size.value != nullptr) layout.add(" = ").append(layout_expression(size.value, 3));
  if (size.ranged) {
    layout.add(" in ").append(layout_expression(size.low, 3)).add("..");
    if (size.high != nullptr) layout.append(layout_expression(size.high, 3));
  }
  return layout;
}

void add_weight_name(Layout& layout, const Identifier& name, int depth) {
  if (!name.text.empty()) layout.may_break(depth, " ").add("@ \"").add(name.text).add("\"");
}

Layout layout_param(const Param& param) {
  Layout layout;
  layout.add(param.name.text).add(": ").append(layout_type(param.type));
  if (param.initialiser != nullptr) {
    layout.add(" = ").append(layout_expression(param.initialiser, 3));
  }
  add_weight_name(layout, param.weight_name, 2);
  return layout;
}

// A name with what it begins as, or stands for where a caller gives nothing.
Layout layout_with_value(const Identifier& name, const ExprPtr& value) {
  Layout layout;
  layout.add(name.text);
  if (value != nullptr) layout.add(" = ").append(layout_expression(value, 3));
  return layout;
}

template <typename Elements, typename One>
Layout layout_list(std::string_view word, const Elements& elements, One layout_one) {
  Layout layout;
  layout.add(word);
  for (size_t i = 0; i < elements.size(); ++i) {
    if (i > 0) layout.add(",").may_break(0, " ");
    layout.append(layout_one(elements[i]));
  }
  return layout;
}

// A definition or a call: what stands left of `=`, right of it, and after `where`.
struct Assignment {
  Layout left, right, condition;
  bool has_brackets = false;
};

Assignment assignment_of(const Definition& definition) {
  Assignment parts;
  parts.left.add(definition.target.text);
  parts.has_brackets =
      definition.leading || !definition.indices.empty() || !definition.subscripts.empty();
  if (!definition.subscripts.empty()) {
    parts.left.add("[").append(layout_extents(false, definition.subscripts, 6)).add("]");
  } else if (parts.has_brackets) {
    parts.left.add("[").append(layout_indices(definition.leading, definition.indices, 6)).add("]");
  }
  parts.right = layout_expression(definition.value, 1);
  if (definition.start != nullptr) {
    parts.right.may_break(0, " ").add("from ").append(layout_expression(definition.start, 1));
  }
  if (definition.condition != nullptr) {
    parts.condition.add("where ").append(layout_expression(definition.condition, 1));
  }
  return parts;
}

Assignment assignment_of(const BlockCall& call) {
  Assignment parts;
  std::string names;
  for (const Identifier& result : call.results) {
    names += (names.empty() ? "" : ", ") + result.text;
  }
  parts.left.add(call.results.size() == 1 ? names : "(" + names + ")");
  parts.right.add(call.callee.text).add("(");
  parts.right.append(layout_arguments(call.arguments, 1)).add(")");
  if (!call.as.text.empty()) parts.right.may_break(0, " ").add("as ").add(call.as.text);
  if (!call.uses.text.empty()) parts.right.may_break(0, " ").add("using ").add(call.uses.text);
  add_weight_name(parts.right, call.weight_name, 0);
  return parts;
}

class Printer {
 public:
  template <typename Element>
  void print_all(const std::vector<Element>& elements, size_t indent) {
    for (size_t i = 0; i < elements.size();) {
      const size_t run = assignments_from(elements, i);
      if (run == 0) {
        if (needs_blank(elements, i)) lines_.emplace_back();
        print_comments(elements[i].comments.above, indent);
        std::visit([&](const auto& node) { print_node(node, elements[i].comments, indent); },
                   elements[i].node);
        ++i;
      } else {
        print_assignments(elements, i, run, indent);
        i += run;
      }
    }
  }

  void print_comments(const std::vector<std::string>& lines, size_t indent) {
    for (const std::string& line : lines) {
      lines_.push_back({line.empty() ? "" : std::string(indent, ' ') + line, ""});
    }
  }

  std::string text() const {
    std::string all;
    for (size_t i = 0; i < lines_.size();) {
      size_t end = i, column = 0, longest = 0;
      while (end < lines_.size() && !lines_[end].comment.empty()) {
        column = std::max(column, lines_[end].text.size() + 2);
        longest = std::max(longest, lines_[end].comment.size());
        ++end;
      }
      const bool aligned = column + longest <= kLineWidth;
      for (; i < end; ++i) {
        const std::string& line = lines_[i].text;
        const size_t gap = aligned ? column - line.size() : 2;
        all += line + std::string(gap, ' ') + lines_[i].comment + "\n";
      }
      if (i < lines_.size()) all += lines_[i++].text + "\n";
    }
    return all;
  }

 private:
  struct Line {
    std::string text;
    std::string comment;
  };

  // Blocks are set off by blank lines; the parser's trees have them among the comments.
  static bool needs_blank(const std::vector<Item>& items, size_t i) {
    const std::vector<std::string>& above = items[i].comments.above;
    const bool has_blank = !above.empty() && above.front().empty();
    return i > 0 && set_off(items[i - 1], items[i]) && !has_blank;
  }
  static bool needs_blank(const std::vector<Statement>&, size_t) { return false; }

  void put(const Layout& layout, const std::string& comment, size_t indent,
           size_t continuation = kContinuation) {
    std::vector<std::string> lines = layout.lines(indent, indent + continuation, kLineWidth);
    lines.front().insert(0, indent, ' ');
    for (std::string& line : lines) lines_.push_back({std::move(line), ""});
    lines_.back().comment = comment;
  }

  // How many definitions and calls follow each other from here without a line between them.
  static size_t assignments_from(const std::vector<Item>&, size_t) { return 0; }
  static size_t assignments_from(const std::vector<Statement>& statements, size_t first) {
    size_t count = 0;
    for (size_t i = first; i < statements.size(); ++i, ++count) {
      const Statement& statement = statements[i];
      const bool assigns = std::holds_alternative<Definition>(statement.node) ||
                           std::holds_alternative<BlockCall>(statement.node);
      if (!assigns || (i > first && !statement.comments.above.empty())) break;
    }
    return count;
  }

  void print_assignments(const std::vector<Item>&, size_t, size_t, size_t) {}
  // Lines up `=` among neighbours of one kind, and `where` in the whole run.
  void print_assignments(const std::vector<Statement>& statements, size_t first, size_t count,
                         size_t indent) {
    std::vector<Assignment> run;
    for (size_t i = first; i < first + count; ++i) {
      const StatementNode& node = statements[i].node;
      const auto* definition = std::get_if<Definition>(&node);
      run.push_back(definition != nullptr ? assignment_of(*definition)
                                          : assignment_of(std::get<BlockCall>(node)));
    }
    pad_left_sides(run);
    size_t where_column = 0;
    for (const Assignment& parts : run) {
      const size_t width = indent + parts.left.width() + 3 + parts.right.width() + 4;
      const bool fits = width + parts.condition.width() <= kLineWidth;
      if (!parts.condition.empty() && fits) where_column = std::max(where_column, width);
    }
    for (size_t i = 0; i < count; ++i) {
      const Assignment& parts = run[i];
      Layout layout = parts.left;
      layout.add(" =").may_break(50, " ").append(parts.right);
      if (!parts.condition.empty()) {
        const size_t width = indent + layout.width();
        const bool fits = std::max(where_column, width + 1) + parts.condition.width() <= kLineWidth;
        const size_t gap = fits && where_column > width ? where_column - width : 1;
        layout.may_break(0, std::string(gap, ' ')).append(parts.condition);
      }
      print_comments(statements[first + i].comments.above, indent);
      put(layout, statements[first + i].comments.beside, indent);
    }
  }

  static void pad_left_sides(std::vector<Assignment>& run) {
    for (size_t i = 0; i < run.size();) {
      size_t end = i, narrowest = run[i].left.width(), widest = narrowest;
      while (end < run.size() && run[end].has_brackets == run[i].has_brackets) {
        narrowest = std::min(narrowest, run[end].left.width());
        widest = std::max(widest, run[end].left.width());
        ++end;
      }
      for (; i < end; ++i) {
        const bool pad = widest - narrowest <= kMaxPadding;
        if (pad) run[i].left.add(std::string(widest - run[i].left.width(), ' '));
      }
    }
  }

  void print_node(const Use& use, const Comments& comments, size_t indent) {
    Layout layout;
    layout.add("use ").add(use.quoted ? "\"" + use.path + "\"" : use.path);
    put(layout, comments.beside, indent);
  }

  void print_node(const SizeStatement& statement, const Comments& comments, size_t indent) {
    put(layout_list("size ", statement.sizes, layout_size), comments.beside, indent, 5);
  }

  void print_node(const ParamStatement& statement, const Comments& comments, size_t indent) {
    put(layout_list("param ", statement.params, layout_param), comments.beside, indent, 6);
  }

  void print_node(const StateStatement& statement, const Comments& comments, size_t indent) {
    const auto one = [](const State& state) {
      if (!state.typed) return layout_with_value(state.name, state.value);
      Layout layout;
      layout.add(state.name.text).add(": ").append(layout_type(state.type));
      if (state.value != nullptr) layout.add(" = ").append(layout_expression(state.value, 3));
      return layout;
    };
    put(layout_list("state ", statement.states, one), comments.beside, indent, 6);
  }

  void print_node(const Function& function, const Comments& comments, size_t indent) {
    Layout layout;
    layout.add("fn ").add(function.name.text).add("(");
    for (size_t i = 0; i < function.parameters.size(); ++i) {
      layout.add(i > 0 ? ", " : "").add(function.parameters[i].text);
    }
    layout.add(") =").may_break(50, " ").append(layout_expression(function.body, 1));
    put(layout, comments.beside, indent);
  }

  void print_node(const Definition&, const Comments&, size_t) {}  // see print_assignments
  void print_node(const BlockCall&, const Comments&, size_t) {}

  void print_node(const Block& block, const Comments& comments, size_t indent) {
    constexpr std::string_view kWords[] = {"block ", "model ", "train model "};
    Layout layout;
    layout.add(kWords[static_cast<size_t>(block.kind)]).add(block.name.text).add("(");
    bool is_first = true;
    const auto separate = [&] {
      if (!std::exchange(is_first, false)) layout.add(",").may_break(1, " ");
    };
    for (const Input& input : block.inputs) {
      separate();
      layout.add(input.name.text).add(": ").append(layout_type(input.type));
    }
    for (const Size& size : block.sizes) {
      separate();
      layout.add("size ").append(layout_size(size));
    }
    layout.add(") ->").may_break(0, " ");
    is_first = true;
    for (const Output& output : block.outputs) {
      separate();
      if (output.probe) layout.add("probe ");
      layout.add(output.name.text);
      const Layout type = layout_type(output.type);
      if (type.width() > 0) layout.add(": ").append(type);
    }
    if (!block.update.text.empty()) layout.may_break(0, " ").add("using ").add(block.update.text);
    print_braced(layout, block, comments, indent);
  }

  void print_node(const Update& update, const Comments& comments, size_t indent) {
    const auto one = [](const UpdateArgument& argument) {
      return layout_with_value(argument.name, argument.value);
    };
    Layout layout = layout_list("update " + update.name.text + "(", update.arguments, one);
    print_braced(layout.add(")"), update, comments, indent);
  }

  void print_node(const Repeat& repeat, const Comments& comments, size_t indent) {
    Layout layout;
    layout.add("repeat ").add(repeat.index.text).add(": ");
    layout.append(layout_expression(repeat.count, 1));
    if (!repeat.as.text.empty()) layout.add(" as ").add(repeat.as.text);
    add_weight_name(layout, repeat.weight_name, 0);
    print_braced(layout, repeat, comments, indent);
  }

  void print_node(const Scan& scan, const Comments& comments, size_t indent) {
    Layout layout;
    layout.add("scan ").add(scan.index.text).add(": ").append(layout_expression(scan.count, 1));
    if (scan.down) layout.add(" down");
    print_braced(layout, scan, comments, indent);
  }

  // What has a body, after its head.
  template <typename Node>
  void print_braced(Layout head, const Node& node, const Comments& comments, size_t indent) {
    put(head.add(" {"), comments.beside, indent);
    print_all(node.body, indent + kStep);
    print_comments(node.last_comments, indent + kStep);
    lines_.push_back({std::string(indent, ' ') + "}", ""});
  }

  std::vector<Line> lines_;
};

}  // namespace

std::string print(const File& file) {
  Printer printer;
  printer.print_all(file.items, 0);
  printer.print_comments(file.last_comments, 0);
  return printer.text();
}

std::string print(const std::vector<Statement>& statements) {
  Printer printer;
  printer.print_all(statements, 0);
  return printer.text();
}

std::string print(const ExprPtr& expression) { return layout_expression(expression, 0).flat(); }

}  // namespace attn::dsl
