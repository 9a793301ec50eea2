// What the parser makes of good text: words, ends of lines, shapes of trees, places, comments.
#include "dsl/parse.h"

#include <gtest/gtest.h>

#include "compiler/base/check.h"
#include "dsl/print.h"

namespace attn::dsl {
namespace {

struct Parsed {
  SourceMap sources;
  Diagnostics diagnostics;
  File file;
};

Parsed parse_text(const std::string& text) {
  Parsed result;
  const int32_t id = result.sources.add("test.attn", text);
  result.file = parse(result.sources, id, result.diagnostics);
  EXPECT_TRUE(result.diagnostics.all().empty()) << render(result.sources, result.diagnostics);
  return result;
}

const Block& only_block(const Parsed& parsed) {
  for (const Item& item : parsed.file.items) {
    if (const auto* block = std::get_if<Block>(&item.node)) return *block;
  }
  throw std::runtime_error("no block");
}

std::vector<Statement> body_of(const std::string& body) {
  return only_block(parse_text("block f(x: [T]) -> y {\n" + body + "\n}\n")).body;
}

TEST(Parse, NamesThatBeginLikeNumbersOrWordsArePlain) {
  for (const char* name : {"infer", "nano", "info", "inf", "nan", "iff", "summary", "maximum", "e5",
                           "_1", "wherever", "size", "param", "from_here", "use", "probe"}) {
    const auto body = body_of(std::string(name) + "[i] = x[i]");
    ASSERT_EQ(body.size(), 1u) << name;
    EXPECT_EQ(std::get<Definition>(body[0].node).target.text, name);
  }
}

TEST(Parse, AProbeIsMarkedAndTheWordMayStillNameAnOutput) {
  auto outputs = [](const std::string& list) {
    const Parsed parsed = parse_text("train model f(x: [T]) -> " + list + " {\n  y = x\n}\n");
    std::string text;
    for (const Output& o : only_block(parsed).outputs)
      text += (o.probe ? "probe " : "") + o.name.text + (o.type.dtype.text.empty() ? ";" : ":;");
    return text;
  };
  EXPECT_EQ(outputs("y, probe p, probe q: f64, z"), "y;probe p;probe q:;z;");
  EXPECT_EQ(outputs("probe"), "probe;");
  EXPECT_EQ(outputs("probe: f64, y"), "probe:;y;");
  EXPECT_EQ(outputs("y, probe probe using adam"), "y;probe probe;");
  EXPECT_EQ(outputs("probe using adam"), "probe;");
}

TEST(Parse, LineEndsAreTheSameOnAllSystems) {
  const std::string unix_text = "size T\nblock f(x: [T]) -> y {\n  # c\n  y[i] = x[i] +\n 1\n}";
  std::string dos = unix_text, mac = unix_text;
  for (size_t at = 0; (at = dos.find('\n', at)) != std::string::npos; at += 2) dos.insert(at, "\r");
  for (char& c : mac) c = c == '\n' ? '\r' : c;
  const File file = parse_text(unix_text).file;
  EXPECT_TRUE(equal(file, parse_text(dos).file));
  EXPECT_TRUE(equal(file, parse_text(mac).file));
  EXPECT_TRUE(equal(file, parse_text(unix_text + "\n").file));
  EXPECT_TRUE(equal(file, parse_text("\xEF\xBB\xBF" + unix_text).file));
}

TEST(Parse, ANewlineEndsAStatementUnlessTheLineGoesOn) {
  EXPECT_EQ(body_of("a = 1\nb = 2; c = 3;\n\n;d = 4").size(), 4u);
  for (const char* one :
       {"a = 1 +\n2", "a =\n1", "a[i,\nj] = x[i]", "a = (1\n+ 2)", "a = if 1 < 2\nthen 1\nelse 2",
        "a = if 1 < 2 then\n1 else\n2", "a[i] = x[i]\nwhere i < 2", "a[i] = x[i] where\ni < 2",
        "a = 1 < 2\nand 2 < 3\nor\n1 < 2 and not\n1 < 2", "a = f(x)\n\n# comment\n  as b",
        "param w:\n[T]", "a = sum[i: 2\nwhere i < 1] 1", "a = 2 *  # comment\n3"}) {
    EXPECT_EQ(body_of(one).size(), 1u) << one;
  }
}

TEST(Parse, SumsAreFlatListsAndGroupToTheLeft) {
  const ExprPtr sum = parse_expression("a + b - c + d");
  const Chain& chain = std::get<Chain>(sum->node);
  EXPECT_EQ(chain.operands.size(), 4u);
  EXPECT_EQ(chain.ops, (std::vector<Op>{Op::add, Op::subtract, Op::add}));
  const ExprPtr power = parse_expression("a ^ b ^ c");
  EXPECT_TRUE(std::holds_alternative<Power>(std::get<Power>(power->node).exponent->node));
  const ExprPtr comparison = parse_expression("0 <= j - i < W");
  EXPECT_EQ(std::get<Chain>(comparison->node).operands.size(), 3u);
}

TEST(Parse, AReductionCoversTheProductBehindIt) {
  const ExprPtr e = parse_expression("2 * sum[k] a[k] * b[k] / 3 + c");
  const Chain& sum = std::get<Chain>(e->node);
  ASSERT_EQ(sum.level, Level::additive);
  const Chain& product = std::get<Chain>(sum.operands[0]->node);
  ASSERT_EQ(product.operands.size(), 2u);
  const Reduction& reduction = std::get<Reduction>(product.operands[1]->node);
  EXPECT_EQ(std::get<Chain>(reduction.operand->node).operands.size(), 3u);
  // A softmax covers its brackets only.
  const ExprPtr s = parse_expression("softmax[j] (a[j]) * b[j]");
  EXPECT_EQ(std::get<Chain>(s->node).operands.size(), 2u);
}

TEST(Parse, MaxIsAReductionOrAFunction) {
  EXPECT_TRUE(std::holds_alternative<Reduction>(parse_expression("max[j] a[j]")->node));
  EXPECT_TRUE(std::holds_alternative<Call>(parse_expression("max(a, b)")->node));
}

TEST(Parse, ACallIsABlockCallWhereItCanBeNothingElse) {
  const auto body = body_of(
      "n = layer_norm(x)\na = multi_head(n, H = 8)\n(y, p) = f(x)\nm = f(x) as name\nv = g(x, 2)");
  ASSERT_EQ(body.size(), 5u);
  EXPECT_TRUE(std::holds_alternative<Definition>(body[0].node));
  EXPECT_TRUE(std::holds_alternative<BlockCall>(body[1].node));
  EXPECT_EQ(std::get<BlockCall>(body[1].node).arguments[1].name.text, "H");
  EXPECT_EQ(std::get<BlockCall>(body[2].node).results.size(), 2u);
  EXPECT_EQ(std::get<BlockCall>(body[3].node).as.text, "name");
  EXPECT_TRUE(std::holds_alternative<Definition>(body[4].node));
}

TEST(Parse, HeadersHaveInputsSizesAndOutputs) {
  const Parsed parsed = parse_text(
      "train model m(x: bf16[..., D], size F = 4 * D, rate: f32, size G) -> loss, p: f64 {}\n");
  const Block& block = only_block(parsed);
  EXPECT_EQ(block.kind, BlockKind::train_model);
  ASSERT_EQ(block.inputs.size(), 2u);
  EXPECT_TRUE(block.inputs[0].type.leading);
  EXPECT_EQ(block.inputs[0].type.dtype.text, "bf16");
  EXPECT_FALSE(block.inputs[1].type.bracketed);
  ASSERT_EQ(block.sizes.size(), 2u);
  EXPECT_EQ(block.sizes[1].value, nullptr);
  ASSERT_EQ(block.outputs.size(), 2u);
  EXPECT_EQ(block.outputs[1].type.dtype.text, "f64");
}

TEST(Parse, SizesHaveValuesOrRanges) {
  const Parsed parsed = parse_text("size B, T in 1..64, S in 1.., D = 512, P = T // 2\n");
  const auto& sizes = std::get<SizeStatement>(parsed.file.items[0].node).sizes;
  ASSERT_EQ(sizes.size(), 5u);
  EXPECT_EQ(sizes[0].value, nullptr);
  EXPECT_EQ(std::get<Number>(sizes[1].high->node).integer(), 64);
  EXPECT_TRUE(sizes[2].ranged);
  EXPECT_EQ(sizes[2].high, nullptr);
  EXPECT_EQ(std::get<Number>(sizes[3].value->node).integer(), 512);
}

TEST(Parse, ScansHaveStepsAndStarts) {
  const auto body = body_of(
      "scan t: T down {\n  a[t] = b[t+1]\n    from 0 where t > c\n}\nscan[t] = 1\ndown = from");
  ASSERT_EQ(body.size(), 3u);
  const Scan& scan = std::get<Scan>(body[0].node);
  EXPECT_EQ(scan.index.text, "t");
  EXPECT_EQ(std::get<Name>(scan.count->node).text, "T");
  EXPECT_TRUE(scan.down);
  const Definition& a = std::get<Definition>(scan.body.at(0).node);
  EXPECT_EQ(std::get<Number>(a.start->node).integer(), 0);
  EXPECT_TRUE(std::holds_alternative<Chain>(a.condition->node));
  EXPECT_FALSE(std::get<Scan>(body_of("scan t: T + 1 {}").at(0).node).down);
}

TEST(Parse, LiteralsAreIntegersOrReals) {
  EXPECT_EQ(std::get<Number>(parse_expression("9223372036854775807")->node).integer(), INT64_MAX);
  EXPECT_EQ(std::get<Number>(parse_expression("0.1")->node).real(), 0.1);
  EXPECT_EQ(std::get<Number>(parse_expression("1e-5")->node).real(), 1e-5);
  EXPECT_EQ(std::get<Number>(parse_expression("1.7976931348623157e308")->node).real(),
            1.7976931348623157e308);
  EXPECT_FALSE(std::get<Number>(parse_expression("1e3")->node).is_integer());
}

TEST(Parse, NamesMayHaveDots) {
  const ExprPtr e = parse_expression("layers.0.attn.wq[h,e] * dx.1[i]");
  const Chain& product = std::get<Chain>(e->node);
  EXPECT_EQ(std::get<Access>(product.operands[0]->node).tensor.text, "layers.0.attn.wq");
  EXPECT_EQ(std::get<Access>(product.operands[1]->node).tensor.text, "dx.1");
}

TEST(Parse, NodesKnowTheirPlaces) {
  const std::string text = "block f(x: [T]) -> y {\n  y[i] = 2 * (x[i] + 1)  # c\n}\n";
  const Parsed parsed = parse_text(text);
  const Statement& statement = only_block(parsed).body[0];
  EXPECT_EQ(parsed.sources.text(statement.where), "y[i] = 2 * (x[i] + 1)");
  const Definition& definition = std::get<Definition>(statement.node);
  EXPECT_EQ(parsed.sources.text(definition.target.where), "y");
  const Chain& product = std::get<Chain>(definition.value->node);
  EXPECT_EQ(parsed.sources.text(product.operands[1]->where), "x[i] + 1");
  EXPECT_EQ(parsed.sources.text(only_block(parsed).inputs[0].type.where), "[T]");
  EXPECT_EQ(parsed.sources.text(only_block(parsed).braces).front(), '{');
  EXPECT_EQ(parsed.sources.text(only_block(parsed).braces).back(), '}');
}

TEST(Parse, DocumentationStandsDirectlyAbove) {
  const Parsed parsed = parse_text(
      "# no\n## Two\n##  lines.\nblock f(x: [T]) -> y {\n## of w\nparam w: [T]\n\n## far\n\ny[i] = "
      "x[i]}\n");
  EXPECT_EQ(documentation(parsed.file.items[0].comments), "Two\n lines.");
  EXPECT_EQ(documentation(only_block(parsed).body[0].comments), "of w");
  EXPECT_EQ(documentation(only_block(parsed).body[1].comments), "");
}

TEST(Parse, WhatIsLeftOfABrokenFileIsStillThere) {
  SourceMap sources;
  Diagnostics diagnostics;
  const int32_t id = sources.add("broken.attn",
                                 "block f(x: [T]) -> y {\n  a = = 1\n  y[i] = x[i]\n}\n"
                                 "size D = )\nblock g(x: [T]) -> y {\n  y[i] = 2\n}\n");
  const File file = parse(sources, id, diagnostics);
  EXPECT_EQ(diagnostics.error_count(), 2) << render(sources, diagnostics);
  ASSERT_EQ(file.items.size(), 2u);
  EXPECT_EQ(std::get<Block>(file.items[0].node).body.size(), 1u);
}

TEST(Parse, AnExpressionOfOursMustBeRight) {
  EXPECT_THROW(parse_expression("1 +"), InternalError);
  EXPECT_THROW(parse_expression("1 2"), InternalError);
  EXPECT_THROW(parse_expression(""), InternalError);
}

}  // namespace
}  // namespace attn::dsl
