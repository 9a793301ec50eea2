#include "dsl/parse_state.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/comments.h"
#include "dsl/spelling.h"

namespace attn::dsl {
namespace {

std::string joined(const std::vector<std::string_view>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

const std::vector<std::string>& statement_words() {
  static const std::vector<std::string> words = {
      "use", "size", "fn", "block", "model", "train", "param", "repeat", "scan", "update", "state"};
  return words;
}

bool is_statement_word(std::string_view word) {
  const std::vector<std::string>& words = statement_words();
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The name before the brackets that `last` ends, or is in where `open` is 1, or null: `smu` of
// `smu[d]`.
const Token* name_before_brackets(const Token* first, const Token* last, int open = 0) {
  for (const Token* t = last; t > first; --t) {
    open += t->kind == TokenKind::right_bracket;
    open -= t->kind == TokenKind::left_bracket;
    if (open == 0) return t[-1].kind == TokenKind::name ? t - 1 : nullptr;
  }
  return nullptr;
}

bool begins_operand(const Token& token) {
  return token.kind == TokenKind::name || token.kind == TokenKind::number ||
         token.kind == TokenKind::left_paren || token.kind == TokenKind::reduction_word;
}

// What to say of a word that stands where only a reduction can; empty where none is like it.
std::string help_for_reduction(std::string_view word) {
  if (const auto name = reduction_called(word))
    return fmt::format("here that reduction is `{}`", *name);
  const std::string meant = nearest(word, reduction_words());
  if (meant.empty()) return {};
  return fmt::format("`{}` is not a reduction: did you mean `{}`?", word, meant);
}

}  // namespace

void ParseState::expect(const Token* at, std::string_view what) {
  if (what.empty() || stopped || at == hidden_at) return;
  if (furthest_ == nullptr || at > furthest_) {
    furthest_ = at;
    expected_.clear();
  }
  if (at == furthest_ && std::find(expected_.begin(), expected_.end(), what) == expected_.end()) {
    expected_.push_back(what);
  }
}

void ParseState::report(const Token* first, const Token* last, std::string_view what) {
  const bool known =
      std::any_of(first, last + 1, [](const Token& token) { return token.kind == TokenKind::bad; });
  if (known || stopped) return;
  if (furthest_ == nullptr || furthest_ < first) {
    furthest_ = first;
    expected_ = {what};
  }
  // The end of a line is pointed at where the line's text ends.
  Span where = furthest_->where;
  const bool at_line_end =
      furthest_->kind == TokenKind::separator || furthest_->kind == TokenKind::end;
  if (at_line_end && furthest_->text != ";" && furthest_ > first) {
    where = {where.file, furthest_[-1].where.end, furthest_[-1].where.end};
  }
  // So is the end of a block after a line that asks for more.
  const bool block_ends = furthest_->kind == TokenKind::right_brace && furthest_ > first;
  if (block_ends && furthest_->goes_on) {
    where = {where.file, furthest_[-1].where.end, furthest_[-1].where.end};
  }
  Diagnostic& diagnostic = diagnostics.error(
      where, fmt::format("expected {}, found {}", joined(expected_), describe(*furthest_)));
  add_help(diagnostic, first);
}

// The commonest slips, recognised by what stands at the failure and before it.
void ParseState::add_help(Diagnostic& diagnostic, const Token* statement) const {
  const Token& found = *furthest_;
  const Token* before = furthest_ > statement ? furthest_ - 1 : nullptr;
  const auto wants = [&](std::string_view what) {
    return std::find(expected_.begin(), expected_.end(), what) != expected_.end();
  };
  const auto follows = [&](TokenKind kind) { return before != nullptr && before->kind == kind; };

  const bool is_on_left_side =
      before != nullptr && wants("`]`") && statement[1].kind == TokenKind::left_bracket &&
      std::none_of(statement, furthest_,
                   [](const Token& token) { return token.kind == TokenKind::assign; });

  // A misspelt word: the one found, or the one that this statement began with.
  std::vector<std::string> words;
  for (std::string_view what : expected_) {
    if (what.size() > 2 && what.front() == '`') {
      words.emplace_back(what.substr(1, what.size() - 2));
    }
  }
  std::string_view misspelt;
  std::string meant;
  if (found.kind == TokenKind::name) {
    misspelt = found.text;
    meant = nearest(misspelt, words);
    if (meant.empty() && wants("a declaration")) meant = nearest(misspelt, statement_words());
  }
  if (meant.empty() && before == statement && follows(TokenKind::name)) {
    misspelt = before->text;
    meant = nearest(misspelt, statement_words());
  }
  const bool at_statement = wants("a declaration") || wants("a statement");
  std::optional<std::string_view> instead;
  if (at_statement) instead = instead_of_statement(found.text);
  if (!instead && before == statement) instead = instead_of_statement(statement->text);
  // Only a definition goes on in a line that begins with `from` or `using`.
  if (!instead && found.goes_on && is_statement_word(statement->text))
    instead = instead_of_statement(found.text);

  // An unknown word before `[…]` and an operand, or before `[… where …]` or `[…: …]`, can only be
  // meant as a reduction.
  const Token* reduction = nullptr;
  if (begins_operand(found) && follows(TokenKind::right_bracket))
    reduction = name_before_brackets(statement, before);
  if (before && wants("`]`") &&
      (found.kind == TokenKind::where_word || found.kind == TokenKind::colon))
    reduction = name_before_brackets(statement, before, 1);
  const std::string reduction_help = reduction ? help_for_reduction(reduction->text) : "";

  // `x[b, :]`, `x[1:3]`
  const Token* sliced = nullptr;
  if (found.kind == TokenKind::colon && before) sliced = name_before_brackets(statement, before, 1);

  const std::string_view comment = help_for_comment(sources, diagnostic.primary.where);
  const bool is_operator = found.text.size() == 1 &&
                           std::string_view("+-*/^").find(found.text) != std::string_view::npos;
  if (instead) {
    diagnostic.help = *instead;
  } else if (wants("a statement") && is_operator) {
    diagnostic.help = fmt::format(
        "a statement goes on where a line ends in an operator: put the `{}` there", found.text);
  } else if (!reduction_help.empty()) {
    diagnostic.help = reduction_help;
  } else if (follows(TokenKind::at_sign) && wants("a name in quotes")) {
    diagnostic.help = fmt::format("`@` names a tensor of a weight file; of a product {}",
                                  *instead_of_function("matmul"));
  } else if (found.kind == TokenKind::string && follows(TokenKind::left_paren)) {
    const auto formula = before > statement ? instead_of_function(before[-1].text) : std::nullopt;
    diagnostic.help = formula ? *formula : "text stands only after `use` and `@`";
  } else if (!meant.empty() && meant != misspelt) {
    diagnostic.help = fmt::format("did you mean `{}`?", meant);
  } else if (!comment.empty()) {
    diagnostic.help = comment;
  } else if ((wants("a name") || wants("a statement")) && is_reserved(found.text)) {
    diagnostic.help = fmt::format("`{}` is a reserved word and cannot be a name", found.text);
  } else if (found.kind == TokenKind::if_word) {
    diagnostic.help = "put brackets around it: `(if ... then ... else ...)`";
  } else if (found.kind == TokenKind::three_dots) {
    diagnostic.help = "`...` stands for the leading indices: it comes first, and once";
  } else if (found.kind == TokenKind::star && follows(TokenKind::star)) {
    diagnostic.help = "a power is `x^2`";
  } else if (found.kind == TokenKind::assign &&
             (wants("the end of the statement") || wants("`then`") || wants("`]`"))) {
    diagnostic.help = "equality is written `==`";
  } else if (wants("`=`") && found.kind != TokenKind::end &&
             furthest_[1].kind == TokenKind::assign) {
    diagnostic.help = "a name is defined once, by one expression: `name[i] = ...`";
  } else if (found.goes_on || (before != nullptr && before->goes_on)) {
    // The statement went on over a newline, because of what stands on one of its sides.
    const Token& next = found.goes_on ? found : *before;
    const bool by_next =
        is_reserved(next.text) || next.text == "as" || next.text == "from" || next.text == "using";
    diagnostic.help =
        by_next ? fmt::format("a line that begins with `{}` continues the line before", next.text)
                : fmt::format("the line before ends in `{}`, so the statement goes on",
                              (&next)[-1].text);
  } else if (wants("`else`")) {
    diagnostic.help = "every `if` has its `else`, which may be 0";
  } else if (wants("`(`") && follows(TokenKind::right_bracket)) {
    diagnostic.help = "softmax covers what stands in brackets: `softmax[j] (...)`";
  } else if (is_on_left_side) {
    diagnostic.help =
        "on the left stand plain indices; what is computed stands on the right, or in a condition";
  } else if (sliced) {
    diagnostic.help = fmt::format(
        "a formula says what one element is: in `{}[…]` stands an index for each dimension",
        sliced->text);
  } else if (found.kind == TokenKind::left_bracket && follows(TokenKind::right_bracket)) {
    diagnostic.help = "write all subscripts in one pair of brackets: `x[i, j]`";
  } else if (follows(TokenKind::reduction_word)) {
    diagnostic.help = fmt::format("say over which index: `{0}[i] ...`", before->text);
  } else if (wants("`{`") && found.kind == TokenKind::separator &&
             furthest_[1].kind == TokenKind::left_brace) {
    diagnostic.help = "put `{` at the end of this line";
  } else if (wants("`->`")) {
    diagnostic.help = "say what the block gives: `-> y`";
  } else if (wants("`:`") && statement->text == "scan") {
    diagnostic.help = "say how many steps it has: `scan t: T { ... }`";
  } else if (wants("a type") || wants("`:`")) {
    diagnostic.help = "a type is `[B, T, D]`, `int[B, T]` or, for a scalar, `f32`";
  } else if (before == statement && wants("`=`") && found.kind == TokenKind::name &&
             is_statement_word(before->text)) {
    diagnostic.help = fmt::format("`{}` stands outside of blocks", before->text);
  } else if (wants("a declaration")) {
    diagnostic.help = "definitions and parameters stand in a `block` or `model`";
  } else if (wants("the end of the statement") && begins_operand(found)) {
    diagnostic.help = "an operator is missing, or the next statement needs a line of its own";
  }
}

bool ParseState::enter(const Token* at) {
  if (++depth <= kMaxNesting) return true;
  stop_at_limit(at, fmt::format("expressions are nested more than {} deep", kMaxNesting));
  return false;
}

void ParseState::stop_at_limit(const Token* at, std::string message) {
  if (!stopped) diagnostics.limit(at->where, std::move(message));
  stopped = true;
}

}  // namespace attn::dsl
