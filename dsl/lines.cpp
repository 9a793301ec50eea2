#include "dsl/lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "dsl/ast.h"

namespace attn::dsl {
namespace {

bool continues_after(TokenKind kind) {
  switch (kind) {
    case TokenKind::plus:
    case TokenKind::minus:
    case TokenKind::star:
    case TokenKind::slash:
    case TokenKind::floor_slash:
    case TokenKind::percent:
    case TokenKind::caret:
    case TokenKind::less:
    case TokenKind::less_equal:
    case TokenKind::greater:
    case TokenKind::greater_equal:
    case TokenKind::equal_equal:
    case TokenKind::not_equal:
    case TokenKind::assign:
    case TokenKind::comma:
    case TokenKind::arrow:
    case TokenKind::colon:
    case TokenKind::then_word:
    case TokenKind::else_word:
    case TokenKind::where_word:
    case TokenKind::and_word:
    case TokenKind::or_word:
    case TokenKind::not_word:
      return true;
    default:
      return false;
  }
}

bool continues_before(const Token& token) {
  switch (token.kind) {
    case TokenKind::then_word:
    case TokenKind::else_word:
    case TokenKind::where_word:
    case TokenKind::and_word:
    case TokenKind::or_word:
    case TokenKind::not_word:
    case TokenKind::at_sign:
      return true;
    case TokenKind::name:
      return token.text == "from" || token.text == "as" || token.text == "using";
    default:
      return false;
  }
}

TokenKind closer_of(TokenKind opener) {
  return opener == TokenKind::left_paren     ? TokenKind::right_paren
         : opener == TokenKind::left_bracket ? TokenKind::right_bracket
                                             : TokenKind::right_brace;
}

bool is_opener(TokenKind kind) {
  return kind == TokenKind::left_paren || kind == TokenKind::left_bracket ||
         kind == TokenKind::left_brace;
}

bool is_closer(TokenKind kind) {
  return kind == TokenKind::right_paren || kind == TokenKind::right_bracket ||
         kind == TokenKind::right_brace;
}

class BracketMatcher {
 public:
  BracketMatcher(std::vector<Token>& tokens, Diagnostics& diagnostics)
      : tokens_(tokens), diagnostics_(diagnostics) {}

  // False after exceeding the limit of nesting.
  bool run() {
    for (Token& token : tokens_) {
      if (is_opener(token.kind)) {
        // A brace stands in no bracket: brackets still open were forgotten.
        if (token.kind == TokenKind::left_brace) report_open_brackets();
        open_.push_back(&token);
        if (open_.size() > kMaxNesting) {
          diagnostics_.limit(token.where,
                             fmt::format("brackets are nested more than {} deep", kMaxNesting));
          return false;
        }
      } else if (is_closer(token.kind)) {
        close(token);
      }
    }
    report_open_brackets();
    for (const Token* opener : open_) {
      diagnostics_.error(opener->where, "this `{` is never closed").help = "end the block with `}`";
    }
    return true;
  }

 private:
  void close(Token& token) {
    if (token.kind == TokenKind::right_brace) report_open_brackets();
    const auto brace =
        std::find_if(open_.rbegin(), open_.rend(),
                     [](const Token* opener) { return opener->kind == TokenKind::left_brace; }) -
        open_.rbegin();
    const auto partner =
        std::find_if(open_.rbegin(), open_.rend(),
                     [&](const Token* opener) { return closer_of(opener->kind) == token.kind; }) -
        open_.rbegin();
    const bool is_brace = token.kind == TokenKind::right_brace;
    const bool is_stray =
        partner == static_cast<std::ptrdiff_t>(open_.size()) || (!is_brace && partner > brace);
    if (is_stray) {
      // `(x[i)]`: the `]` was spoken of when `)` came.
      int& forgotten =
          token.kind == TokenKind::right_paren ? forgotten_parens_ : forgotten_brackets_;
      if (is_brace || forgotten == 0) {
        diagnostics_.error(token.where,
                           fmt::format("nothing is open that `{}` closes", token.text));
      } else {
        --forgotten;
      }
      token.kind = TokenKind::bad;
      return;
    }
    if (partner > 0) {
      Token* forgotten = open_.back();
      Diagnostic& diagnostic = diagnostics_.error(
          token.where, fmt::format("`{}` does not close `{}`", token.text, forgotten->text));
      diagnostic.others.push_back({forgotten->where, "this is open"});
      diagnostic.help = fmt::format("write `{}` before it", spelling(closer_of(forgotten->kind)));
      for (std::ptrdiff_t i = 0; i < partner; ++i) {
        ++(open_.back()->kind == TokenKind::left_paren ? forgotten_parens_ : forgotten_brackets_);
        open_.back()->kind = TokenKind::bad;
        open_.pop_back();
      }
    }
    open_.pop_back();
  }

  // One message, at the innermost; the others become whole when it is mended, or speak then.
  void report_open_brackets() {
    forgotten_parens_ = forgotten_brackets_ = 0;
    bool reported = false;
    while (!open_.empty() && open_.back()->kind != TokenKind::left_brace) {
      Token* opener = open_.back();
      if (!reported) {
        diagnostics_.error(opener->where, fmt::format("this `{}` is never closed", opener->text))
            .help =
            fmt::format("write the `{}` that belongs to it", spelling(closer_of(opener->kind)));
      }
      reported = true;
      opener->kind = TokenKind::bad;
      open_.pop_back();
    }
  }

  std::vector<Token>& tokens_;
  Diagnostics& diagnostics_;
  std::vector<Token*> open_;
  // Openers that a crossing closer has ended: their own closers may still come, up to the next
  // brace.
  int forgotten_parens_ = 0, forgotten_brackets_ = 0;
};

}  // namespace

std::vector<Token> separate_statements(std::vector<Token> tokens, Diagnostics& diagnostics) {
  if (!BracketMatcher(tokens, diagnostics).run()) return {tokens.back()};
  std::vector<Token> result;
  result.reserve(tokens.size());
  int open = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    Token token = tokens[i];
    if (token.kind == TokenKind::left_paren || token.kind == TokenKind::left_bracket) ++open;
    if (token.kind == TokenKind::right_paren || token.kind == TokenKind::right_bracket) --open;
    if (token.kind == TokenKind::newline) {
      size_t next = i + 1;
      while (tokens[next].kind == TokenKind::newline) ++next;
      const bool goes_on = open > 0 || (!result.empty() && (continues_after(result.back().kind) ||
                                                            continues_before(tokens[next])));
      i = next - 1;
      if (goes_on) {
        tokens[next].goes_on = open == 0;
        continue;
      }
      token.kind = TokenKind::separator;
    }
    result.push_back(token);
  }
  return result;
}

}  // namespace attn::dsl
