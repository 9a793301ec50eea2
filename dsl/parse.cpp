// The grammar, in Boost.Spirit X3 over tokens: the only unit that sees Spirit.
// No rule backtracks past what tells its alternatives apart, so that parsing takes linear time; a
// statement that no rule takes is reported by what was wanted at the furthest token.
#include "dsl/parse.h"

#include <fmt/format.h>

#include "compiler/base/check.h"
#include "dsl/comments.h"
#include "dsl/expression_actions.h"
#include "dsl/lines.h"
#include "dsl/statement_draft.h"
#include "dsl/token_parsers.h"

namespace attn::dsl {
namespace grammar {

// ---- signs and words -------------------------------------------------------------------------
const KindParser left_paren{TokenKind::left_paren, "`(`"};
const KindParser right_paren{TokenKind::right_paren, "`)`"};
const KindParser left_bracket{TokenKind::left_bracket, "`[`"};
const KindParser right_bracket{TokenKind::right_bracket, "`]`"};
const KindParser left_brace{TokenKind::left_brace, "`{`"};
const KindParser right_brace{TokenKind::right_brace, ""};
const KindParser comma{TokenKind::comma, "`,`"};
const KindParser colon{TokenKind::colon, "`:`"};
const KindParser assign{TokenKind::assign, "`=`"};
const KindParser arrow{TokenKind::arrow, "`->`"};
const KindParser two_dots{TokenKind::two_dots, "`..`"};
const KindParser dots{TokenKind::three_dots, ""};
const KindParser separator{TokenKind::separator, ""};
const KindParser end_of_file{TokenKind::end, ""};
const KindParser where_word{TokenKind::where_word, ""};
// What may follow an operand goes unmentioned: nearly anything may.
const KindParser subscript_bracket{TokenKind::left_bracket, ""};
const KindParser call_paren{TokenKind::left_paren, ""};
const KindParser extent_colon{TokenKind::colon, ""};
const KindParser optional_assign{TokenKind::assign, ""};

const NameParser name{"a name"};

WordParser word(std::string_view text) { return {text, ""}; }
KindParser keyword(TokenKind kind, std::string_view text) { return {kind, text}; }

// ---- rules -----------------------------------------------------------------------------------
const x3::rule<class ExpressionRule, ExprPtr> expression = "expression";
const x3::rule<class RowRule, Row> row = "row";
const x3::rule<class OperandRule, ExprPtr> operand = "operand";
const x3::rule<class BracketedRule, Bracketed> bracketed = "brackets";
const x3::rule<class ConditionRule, ExprPtr> condition = "condition";
const x3::rule<class ConditionalRule, Conditional> conditional = "conditional";
const x3::rule<class AccessRule, Access> access = "access";
const x3::rule<class CallRule, Call> call = "call";
const x3::rule<class ArgumentNameRule, Identifier> argument_name = "argument name";
const x3::rule<class ArgumentRule, Argument> argument = "argument";
const x3::rule<class IndexRule, Index> index = "index";
const x3::rule<class HeadRule, Reduction> reduction_head = "reduction";
const x3::rule<class SoftmaxRule, Reduction> softmax = "softmax";
const x3::rule<class TypeRule, Type> type = "type";
const x3::rule<class SizeRule, Size> size = "size";
const x3::rule<class SizesRule, SizeStatement> sizes = "sizes";
const x3::rule<class ParamRule, Param> param = "param";
const x3::rule<class ParamsRule, ParamStatement> params = "params";
const x3::rule<class PrimedRule, Identifier> primed = "primed name";
const x3::rule<class StateRule, State> one_state = "state";
const x3::rule<class StatesRule, StateStatement> states = "states";
const x3::rule<class DraftRule, StatementDraft> draft = "definition";
const x3::rule<class RepeatRule, Repeat> repeat = "repeat";
const x3::rule<class ScanRule, Scan> scan = "scan";
const x3::rule<class StatementRule, Statement> statement = "statement";
const x3::rule<class BodyRule, std::vector<Statement>> body = "body";
const x3::rule<class UseRule, Use> use = "use";
const x3::rule<class FunctionRule, Function> function = "function";
const x3::rule<class InputRule, Input> input = "input";
const x3::rule<class OutputRule, Output> output = "output";
const x3::rule<class HeaderRule, Block> header = "header";
const x3::rule<class BlockRule, Block> block = "block";
const x3::rule<class UpdateArgumentRule, UpdateArgument> update_argument = "update argument";
const x3::rule<class UpdateRule, Update> update = "update";
const x3::rule<class ItemRule, Item> item = "item";
const x3::rule<class FileRule, std::vector<Item>> file = "file";

// ---- expressions -----------------------------------------------------------------------------
const auto expression_def =
    named("an expression", nested(node(conditional)[itself] | row[build_row]));

const auto minus = KindParser{TokenKind::minus, ""};
const auto negation = KindParser{TokenKind::not_word, ""};
const auto caret = KindParser{TokenKind::caret, ""};
const auto prefixes = *(minus[add_nesting([](const Token& token) {
                          return PrefixSign{UnaryOp::minus, token.where};
                        })] |
                        negation[add_nesting([](const Token& token) {
                          return PrefixSign{UnaryOp::logical_not, token.where};
                        })] |
                        reduction_head[add_reduction]);
const auto infix = InfixParser{""}[add_infix] |
                   caret[add_nesting([](const Token& token) { return PowerSign{token.where}; })];
const auto item_of_row = named("an operand", operand[add_item] | bracketed[add_item]);
const auto row_def = prefixes >> item_of_row >> *(infix >> prefixes >> item_of_row);

// `m'`, what the state `m` becomes.
const auto add_prime = [](auto& context) {
  Identifier& identifier = x3::_val(context);
  identifier.text += "'";
  identifier.where = cover(identifier.where, x3::_attr(context).where);
};
const auto primed_def = name[itself] >> -KindParser{TokenKind::prime, ""}[add_prime];

const auto open_bracket = [](auto& context) { x3::_val(context).where = x3::_attr(context).where; };
const auto close_bracket = [](auto& context) {
  Span& where = x3::_val(context).where;
  where = cover(where, x3::_attr(context).where);
};
const auto bracketed_def =
    left_paren[open_bracket] >> expression[set(&Bracketed::inner)] >> right_paren[close_bracket];
const auto operand_def = keyword(TokenKind::number, "")[read_number] | node(access)[itself] |
                         node(call)[itself] | primed[read_name] | node(softmax)[itself] |
                         keyword(TokenKind::true_word, "")[read_boolean] |
                         keyword(TokenKind::false_word, "")[read_boolean] |
                         keyword(TokenKind::inside_word, "")[read_inside];

const auto conditional_def =
    keyword(TokenKind::if_word, "") >> expression[set(&Conditional::condition)] >>
    keyword(TokenKind::then_word, "`then`") >> expression[set(&Conditional::yes)] >>
    keyword(TokenKind::else_word, "`else`") >> expression[set(&Conditional::no)];

const auto access_def = primed[set(&Access::tensor)] >> subscript_bracket >>
                        (dots[flag(&Access::leading)] | expression[push(&Access::subscripts)]) >>
                        *(comma >> expression[push(&Access::subscripts)]) >> right_bracket;

const auto argument_name_def = NameParser{""}[itself] >> optional_assign;
const auto argument_def =
    dots[read_leading] | (-argument_name[read_argument_name] >> expression[set(&Argument::value)]);
const auto call_def = CalleeParser{""}[set(&Call::callee)] >> call_paren >>
                      -(argument[push(&Call::arguments)] >>
                        *(comma >> argument[push(&Call::arguments)])) >>
                      right_paren;

const auto condition_def = where_word >> expression[settle_insides];

const auto index_def = name[set(&Index::name)] >>
                       -(extent_colon >> expression[set(&Index::extent)]);
template <typename Value>
auto index_list() {
  return (dots[flag(&Value::leading)] | index[push(&Value::indices)]) >>
         *(comma >> index[push(&Value::indices)]);
}
const auto reduction_range = left_bracket >> index_list<Reduction>() >>
                             -condition[set(&Reduction::condition)] >> right_bracket;
const auto reduction_word = KindParser{TokenKind::reduction_word, ""};
const auto reduction_head_def = &reduction_word[is_no_softmax] >>
                                !(CalleeParser{""} >> call_paren) >> reduction_word[read_word] >>
                                reduction_range;
const auto softmax_def = &reduction_word[is_softmax] >> reduction_word[read_word] >>
                         reduction_range >> left_paren >> expression[set(&Reduction::operand)] >>
                         right_paren;

// ---- statements ------------------------------------------------------------------------------
const auto read_node = [](auto& context) {
  report_insides(state_of(context));
  x3::_val(context).node = std::move(x3::_attr(context));
};
const auto read_draft = [](auto& context) {
  x3::_val(context).node = finish(std::move(x3::_attr(context)), state_of(context));
};
const auto open_braces = [](auto& context) { x3::_val(context).braces = x3::_attr(context).where; };
const auto close_braces = [](auto& context) {
  Span& braces = x3::_val(context).braces;
  braces = cover(braces, x3::_attr(context).where);
};
const auto read_dtype = [](auto& context) {
  x3::_val(context).dtype = x3::_attr(context);
  check_dtype(x3::_attr(context), state_of(context));
};
const auto any_name = NameParser{""};
const auto at_end = named("the end of the statement", &(separator | right_brace | end_of_file));
// The end of the file closes what was reported as never closed.
const auto braces_and_body = [](auto body_member) {
  return left_brace[open_braces] >> body[set(body_member)] >>
         (right_brace[close_braces] | &end_of_file[close_braces]);
};

const auto extents = left_bracket[flag(&Type::bracketed)] >>
                     (dots[flag(&Type::leading)] | expression[push(&Type::extents)]) >>
                     *(comma >> expression[push(&Type::extents)]) >> right_bracket;
const auto optional_extents = &subscript_bracket >> extents;
const auto type_def = named("a type", (any_name[read_dtype] >> -optional_extents) | extents);

const auto size_def = name[set(&Size::name)] >>
                      -((optional_assign >> expression[set(&Size::value)]) |
                        (word("in")[flag(&Size::ranged)] >> expression[set(&Size::low)] >>
                         two_dots >> -expression[set(&Size::high)]));
const auto sizes_def = word("size") >> &name >> size[push(&SizeStatement::sizes)] >>
                       *(comma >> size[push(&SizeStatement::sizes)]);

const auto read_weight_name = [](auto& context) {
  x3::_val(context).weight_name = unquoted(x3::_attr(context), state_of(context));
};
const auto weight_name = KindParser{TokenKind::at_sign, ""} >>
                         keyword(TokenKind::string, "a name in quotes")[read_weight_name];
const auto param_def = name[set(&Param::name)] >> colon >> placed(type)[set(&Param::type)] >>
                       -(optional_assign >> expression[set(&Param::initialiser)]) >> -weight_name;
const auto params_def = word("param") >> &any_name >> param[push(&ParamStatement::params)] >>
                        *(comma >> param[push(&ParamStatement::params)]);

const auto state_type = placed(type)[set(&State::type)] >>
                        -(optional_assign >> expression[set(&State::value)]);
const auto one_state_def = name[set(&State::name)] >>
                           ((KindParser{TokenKind::colon, "`:`"}[flag(&State::typed)] >>
                             state_type) |
                            (assign >> expression[set(&State::value)]));
const auto states_def = word("state") >> &any_name >> one_state[push(&StateStatement::states)] >>
                        *(comma >> one_state[push(&StateStatement::states)]);

const auto start_value = word("from") >> expression[set(&StatementDraft::start)];
const auto tuple = left_paren[flag(&StatementDraft::tuple)] >>
                   name[push(&StatementDraft::targets)] >>
                   *(comma >> name[push(&StatementDraft::targets)]) >> right_paren;
const auto target = primed[push(&StatementDraft::targets)] >>
                    -(subscript_bracket >> index_list<StatementDraft>() >> right_bracket);
// Subscripts without a range.
const auto is_state = NameParser{""} >> KindParser{TokenKind::prime, ""} >> subscript_bracket >>
                      expression >> *(comma >> expression) >> right_bracket;
const auto state_target = &is_state >> primed[push(&StatementDraft::targets)] >>
                          subscript_bracket >> expression[push(&StatementDraft::subscripts)] >>
                          *(comma >> expression[push(&StatementDraft::subscripts)]) >>
                          right_bracket;
const auto draft_def = (tuple | state_target | target) >> assign >>
                       expression[set(&StatementDraft::value)] >>
                       -((word("as") >> name[set(&StatementDraft::as)]) |
                         (word("using") >> name[set(&StatementDraft::uses)])) >>
                       -weight_name >> -start_value >> -condition[set(&StatementDraft::condition)];

const auto repeat_def = word("repeat") >> &any_name >> name[set(&Repeat::index)] >> colon >>
                        expression[set(&Repeat::count)] >>
                        -(word("as") >> name[set(&Repeat::as)]) >> -weight_name >>
                        braces_and_body(&Repeat::body);

const auto scan_def = word("scan") >> &any_name >> name[set(&Scan::index)] >> colon >>
                      expression[set(&Scan::count)] >> -word("down")[flag(&Scan::down)] >>
                      braces_and_body(&Scan::body);

const auto statement_def = (params[read_node] | states[read_node] | sizes[read_node] |
                            repeat[read_node] | scan[read_node] | draft[read_draft]) >>
                           at_end;
const auto body_def =
    *(separator | placed(named("a statement", statement))[add_item] | Recovery{false});

// ---- declarations ----------------------------------------------------------------------------
const auto read_quoted_path = [](auto& context) {
  const Token& token = x3::_attr(context);
  x3::_val(context) = {std::string(token.text.substr(1, token.text.size() - 2)), true, token.where};
};
const auto read_path = [](auto& context) {
  const Identifier& path = x3::_attr(context);
  x3::_val(context) = {path.text, false, path.where};
};
auto kind(BlockKind which) {
  return [which](auto& context) { x3::_val(context).kind = which; };
}
const auto read_function = [](auto& context) {
  Function& value = x3::_attr(context);
  report_insides(state_of(context));
  report_named_arguments(value.body, false, state_of(context));
  x3::_val(context).node = std::move(value);
};

const auto use_def = word("use") >>
                     named("a path",
                           keyword(TokenKind::string, "")[read_quoted_path] | any_name[read_path]);
const auto function_def = word("fn") >> name[set(&Function::name)] >> left_paren >>
                          -(name[push(&Function::parameters)] >>
                            *(comma >> name[push(&Function::parameters)])) >>
                          right_paren >> assign >> expression[set(&Function::body)];

const auto input_def = name[set(&Input::name)] >> colon >> placed(type)[set(&Input::type)];
// `probe` may also name an output, even one before `using`.
const auto is_probe = word("probe") >> !(word("using") >> any_name) >> any_name;
const auto output_def = -(&is_probe >> word("probe")[flag(&Output::probe)]) >>
                        name[set(&Output::name)] >>
                        -(extent_colon >> placed(type)[set(&Output::type)]);
const auto header_part =
    (&(word("size") >> any_name) >> word("size") >> size[push(&Block::sizes)]) |
    input[push(&Block::inputs)];
const auto block_word =
    word("block")[kind(BlockKind::block)] | word("model")[kind(BlockKind::model)] |
    (word("train") >> WordParser{"model", "`model`"}[kind(BlockKind::train_model)]);
const auto using_update = word("using") >> name[set(&Block::update)];
const auto header_def = block_word >> name[set(&Block::name)] >> left_paren >>
                        -(header_part >> *(comma >> header_part)) >> right_paren >> arrow
                        >> output[push(&Block::outputs)] >>
                        *(comma >> output[push(&Block::outputs)]) >> -using_update >> &left_brace;
const auto update_argument_def = name[set(&UpdateArgument::name)] >>
                                 -(optional_assign >> expression[set(&UpdateArgument::value)]);
const auto update_def = word("update") >> name[set(&Update::name)] >> left_paren >>
                        update_argument[push(&Update::arguments)] >>
                        *(comma >> update_argument[push(&Update::arguments)]) >> right_paren >>
                        braces_and_body(&Update::body);
// After a header that cannot be read the body still is, for its own errors.
const auto block_def = (header[itself] | Recovery{true}) >> braces_and_body(&Block::body);

const auto item_def = (use[read_node] | sizes[read_node] | function[read_function] |
                       update[read_node] | block[read_node]) >>
                      at_end;
const auto file_def =
    *(separator | placed(named("a declaration", item))[add_item] | Recovery{false});

BOOST_SPIRIT_DEFINE(expression, row, primed, operand, bracketed, condition, conditional, access,
                    call, argument_name, argument, index, reduction_head, softmax, type, size,
                    sizes, param, params, one_state, states, draft, update_argument, update, repeat,
                    scan, statement, body, use, function, input, output, header, block, item, file)

}  // namespace grammar

namespace {

// Whether the grammar took a beginning of the tokens; `first` is left after it.
template <typename Rule, typename Value>
bool run(const Rule& rule, const std::vector<Token>& tokens, const Token*& first, ParseState& state,
         Value& value) {
  const Token* const last = tokens.data() + tokens.size();
  first = tokens.data();
  const auto parser = grammar::x3::with<grammar::StateTag>(state)[rule];
  return grammar::x3::parse(first, last, parser, value);
}

}  // namespace

File parse(const SourceMap& sources, int32_t file, Diagnostics& diagnostics) {
  File result;
  result.id = file;
  const size_t first_message = diagnostics.all().size();
  const int errors = diagnostics.error_count();
  Tokens words = tokenize(sources, file, diagnostics);
  if (diagnostics.exceeded_limit()) return result;
  const std::vector<Token> tokens = separate_statements(std::move(words.tokens), diagnostics);
  if (diagnostics.exceeded_limit()) return result;

  ParseState state(sources, diagnostics);
  const Token* first = nullptr;
  const bool good = run(grammar::file, tokens, first, state, result.items);
  ATTN_CHECK(good && (state.stopped || first->kind == TokenKind::end),
             "the grammar stopped before the end of the file");
  if (result.items.empty() && diagnostics.error_count() == errors) {
    diagnostics.error({file, 0, 0}, "no model declared").help =
        "a file declares `model name(x: [T]) -> y { ... }`, or blocks that others use";
  }
  diagnostics.sort_from(first_message);
  attach_comments(result, words.comments, sources.file(file).text);
  return result;
}

ExprPtr parse_expression(std::string_view text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const int32_t file = sources.add("expression", std::string(text));
  const std::vector<Token> tokens =
      separate_statements(tokenize(sources, file, diagnostics).tokens, diagnostics);
  ParseState state(sources, diagnostics);
  const Token* first = nullptr;
  ExprPtr result;
  const bool good = !diagnostics.has_errors() &&
                    run(grammar::expression, tokens, first, state, result) &&
                    first->kind == TokenKind::end && !diagnostics.has_errors();
  ATTN_CHECK(good, fmt::format("cannot parse `{}`\n{}", text, render(sources, diagnostics)));
  return result;
}

}  // namespace attn::dsl
