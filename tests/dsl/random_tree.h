// Random trees of the language, such as the parser could have made.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "dsl/ast.h"
#include "dsl/comments.h"

namespace attn::dsl {

class RandomTree {
 public:
  explicit RandomTree(uint32_t seed) : random_(seed) {}

  ExprPtr expression(int depth) {
    switch (depth <= 0 ? pick(4) : pick(12)) {
      case 0:
        return number();
      case 1:
        return make(Name{name()});
      case 2:
        return make(Boolean{pick(2) == 0});
      case 3:
        return make(Access{{name(), {}}, false, {make(Name{"i"}), number()}});
      case 4:
        return access(depth);
      case 5:
        return call(depth);
      case 6:
        return make(
            Unary{pick(3) > 0 ? UnaryOp::minus : UnaryOp::logical_not, expression(depth - 1)});
      case 7:
        return make(Power{expression(depth - 1), expression(depth - 1)});
      case 8:
        return make(
            Conditional{expression(depth - 1), expression(depth - 1), expression(depth - 1)});
      case 9:
        return reduction(depth);
      default:
        return chain(depth);
    }
  }

  File file() {
    File file;
    const int items = 1 + pick(5);
    for (int i = 0; i < items; ++i) {
      Item item;
      switch (pick(5)) {
        case 0:
          item.node = Use{pick(2) == 0 ? "std.norm" : "a/b.attn", false, {}};
          std::get<Use>(item.node).quoted = std::get<Use>(item.node).path != "std.norm";
          break;
        case 1:
          item.node = sizes();
          break;
        case 2:
          item.node = Function{identifier(), {identifier(), identifier()}, expression(3)};
          break;
        case 3:
          item.node = update();
          break;
        default:
          item.node = block();
      }
      item.comments = comments(i == 0);
      // Blocks are set off by blank lines.
      const bool is_set_off = i > 0 && set_off(file.items.back(), item);
      auto& above = item.comments.above;
      if (is_set_off && (above.empty() || !above.front().empty())) above.emplace(above.begin());
      file.items.push_back(std::move(item));
    }
    if (pick(3) == 0) file.last_comments = {"", "# the end"};
    return file;
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  std::string name() {
    static const char* const names[] = {
        "x",     "y",           "attn.wq", "dx.1",  "lse_p",
        "param", "size",        "from.0",  "infer", "nano",
        "info",  "layers.0.wq", "state",   "in",    "wordier_than_others"};
    return names[pick(std::size(names))];
  }
  Identifier identifier() { return {name(), {}}; }

  ExprPtr number() {
    static const double reals[] = {0.0, 0.5, 1e-5, 1.0, 1e300, 3.14159, 1e-12, 123456.75};
    if (pick(2) == 0) return make_number(static_cast<int64_t>(pick(1000)));
    return make_number(reals[pick(std::size(reals))]);
  }

  std::vector<ExprPtr> some(int least, int depth) {
    std::vector<ExprPtr> result;
    for (int n = least + pick(3); n > 0; --n) result.push_back(expression(depth));
    return result;
  }

  ExprPtr access(int depth) {
    const bool leading = pick(4) == 0;
    return make(Access{identifier(), leading, some(leading ? 0 : 1, depth - 1)});
  }

  ExprPtr call(int depth) {
    Call call{pick(3) == 0 ? Identifier{"max", {}} : identifier(), {}};
    for (ExprPtr& value : some(0, depth - 1)) call.arguments.push_back({{}, std::move(value)});
    if (pick(6) == 0) call.arguments.push_back({{}, make(Leading{})});
    return make(std::move(call));
  }

  std::vector<Index> indices(int least) {
    std::vector<Index> result;
    for (int n = least + pick(3); n > 0; --n) {
      result.push_back({{std::string(1, static_cast<char>('i' + n)), {}},
                        pick(4) == 0 ? expression(1) : nullptr});
    }
    return result;
  }

  ExprPtr condition(int depth) {
    if (pick(3) > 0) return expression(depth);
    ExprPtr inside = make(Inside{});
    if (pick(2) == 0) return inside;
    return make_chain(Op::logical_and, {inside, make(Name{"c"})});
  }

  ExprPtr reduction(int depth) {
    static const char* const kinds[] = {"sum",  "max",    "min",       "mean",
                                        "prod", "argmax", "logsumexp", "softmax"};
    Reduction result;
    result.kind.text = kinds[pick(std::size(kinds))];
    result.leading = pick(8) == 0;
    result.indices = indices(result.leading ? 0 : 1);
    if (pick(2) == 0) result.condition = condition(depth - 1);
    result.operand = expression(depth - 1);
    return make(std::move(result));
  }

  ExprPtr chain(int depth) {
    static const std::vector<std::vector<Op>> levels = {
        {Op::logical_or},
        {Op::logical_and},
        {Op::less, Op::less_equal, Op::greater, Op::greater_equal, Op::equal, Op::not_equal},
        {Op::add, Op::subtract},
        {Op::multiply, Op::divide, Op::floor_divide, Op::remainder}};
    const std::vector<Op>& ops = levels[pick(static_cast<int>(levels.size()))];
    Chain result{level_of(ops.front()), some(2, depth - 1), {}};
    for (size_t i = 1; i < result.operands.size(); ++i) {
      result.ops.push_back(ops[pick(static_cast<int>(ops.size()))]);
    }
    // The parser splices such a first operand.
    const auto* first = std::get_if<Chain>(&result.operands.front()->node);
    if (first != nullptr && first->level == result.level && first->level != Level::comparison) {
      result.operands.front() = make(Name{"x"});
    }
    return make(std::move(result));
  }

  Comments comments(bool is_first) {
    Comments result;
    if (!is_first && pick(3) == 0) result.above.emplace_back();
    if (pick(5) == 0) result.above.emplace_back("# a comment, { with = signs [");
    if (pick(5) == 0) result.above.emplace_back("## documented – größer");
    if (pick(5) == 0) result.beside = "# beside";
    return result;
  }

  Type type(bool may_be_empty) {
    Type type;
    static const char* const dtypes[] = {"f32", "bf16", "f16", "f64", "int", "bool"};
    if (may_be_empty && pick(2) == 0) return type;
    if (pick(2) == 0) type.dtype.text = dtypes[pick(6)];
    type.bracketed = type.dtype.text.empty() || pick(2) == 0;
    if (!type.bracketed) return type;
    type.leading = pick(4) == 0;
    type.extents = some(type.leading ? 0 : 1, 1);
    return type;
  }

  Size size() {
    Size size{identifier(), nullptr, false, nullptr, nullptr};
    const int kind = pick(4);
    if (kind == 0) size.value = expression(2);
    if (kind == 1) {
      size.ranged = true;
      size.low = make_number(int64_t{1});
      if (pick(2) == 0) size.high = expression(1);
    }
    return size;
  }
  SizeStatement sizes() {
    SizeStatement statement{{size()}};
    while (pick(3) == 0) statement.sizes.push_back(size());
    return statement;
  }

  Statement statement(int depth, bool is_first) {
    Statement statement;
    switch (pick(depth > 0 ? 7 : 5)) {
      case 0: {
        ParamStatement params;
        do {
          params.params.push_back(
              {identifier(), type(false), pick(3) == 0 ? call(2) : nullptr, {}});
          if (pick(4) == 0) params.params.back().weight_name.text = "encoder.0/größer \\n";
        } while (pick(3) == 0);
        statement.node = std::move(params);
        break;
      }
      case 1: {
        BlockCall call{{identifier()}, identifier(), {{{}, expression(1)}}, {}, {}, {}};
        if (pick(2) == 0) call.results.push_back(identifier());
        if (pick(2) == 0) call.arguments.push_back({{"H", {}}, expression(1)});
        if (pick(2) == 0) call.as = identifier();
        if (call.as.text.empty() && pick(2) == 0) call.uses = identifier();
        if (call.uses.text.empty() && pick(3) == 0) call.weight_name.text = "self.{l}";
        const bool is_plain = call.results.size() == 1 && call.arguments.size() == 1 &&
                              call.as.text.empty() && call.uses.text.empty() &&
                              call.weight_name.text.empty();
        if (is_plain) call.as.text = "name";
        statement.node = std::move(call);
        break;
      }
      case 5: {
        Repeat repeat{identifier(), expression(1), {}, {}, {}, {}, {}};
        if (pick(2) == 0) repeat.as = identifier();
        if (pick(3) == 0) repeat.weight_name.text = "h.{l}";
        for (int i = 0, n = pick(3); i < n; ++i) {
          repeat.body.push_back(this->statement(depth - 1, i == 0));
        }
        if (pick(4) == 0) repeat.last_comments = {"# last"};
        statement.node = std::move(repeat);
        break;
      }
      case 6: {
        Scan scan{identifier(), expression(1), pick(2) == 0, {}, {}, {}};
        for (int i = 0, n = pick(3); i < n; ++i) {
          scan.body.push_back(this->statement(depth - 1, i == 0));
        }
        if (pick(4) == 0) scan.last_comments = {"# last"};
        statement.node = std::move(scan);
        break;
      }
      default: {
        Definition definition{identifier(), pick(5) == 0, {}, {}, expression(4), nullptr, nullptr};
        if (pick(6) == 0) {
          definition.target.text += "'";
          definition.leading = false;
          for (int n = pick(4); n > 0; --n) definition.subscripts.push_back(expression(2));
        } else if (pick(4) > 0) {
          definition.indices = indices(1);
        }
        if (pick(3) == 0) definition.condition = condition(2);
        if (pick(5) == 0) definition.start = expression(2);
        statement.node = std::move(definition);
      }
    }
    statement.comments = comments(is_first);
    return statement;
  }

  Block block() {
    Block block;
    block.kind = static_cast<BlockKind>(pick(3));
    block.name = identifier();
    for (int n = pick(4); n > 0; --n) block.inputs.push_back({identifier(), type(false)});
    for (int n = pick(3); n > 0; --n) block.sizes.push_back(size());
    for (int n = 1 + pick(2); n > 0; --n)
      block.outputs.push_back({identifier(), type(true), pick(3) == 0});
    if (pick(3) == 0) block.update = identifier();
    for (int i = 0, n = pick(6); i < n; ++i) block.body.push_back(statement(2, i == 0));
    if (pick(4) == 0) block.last_comments = {"# last"};
    return block;
  }

  Update update() {
    Update update;
    update.name = identifier();
    for (int n = 1 + pick(5); n > 0; --n)
      update.arguments.push_back({identifier(), pick(2) == 0 ? expression(2) : nullptr});
    for (int i = 0, n = pick(5); i < n; ++i) {
      Statement statement;
      if (pick(3) == 0) {
        StateStatement states;
        for (int k = 1 + pick(2); k > 0; --k) {
          if (pick(2) == 0)
            states.states.push_back({identifier(), false, {}, number()});
          else
            states.states.push_back(
                {identifier(), true, type(false), pick(3) ? nullptr : number()});
        }
        statement.node = std::move(states);
      } else {
        Definition definition{identifier(), false, {}, {}, expression(3), nullptr};
        if (pick(2) == 0) definition.target.text += "'";
        if (pick(3) == 0) definition.value = make(Name{"m'"});
        statement.node = std::move(definition);
      }
      statement.comments = comments(i == 0);
      update.body.push_back(std::move(statement));
    }
    if (pick(4) == 0) update.last_comments = {"# last"};
    return update;
  }

  std::mt19937 random_;
};

}  // namespace attn::dsl
