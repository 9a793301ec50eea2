// What `attnc emit` prints is a program, at every stage that the language can say.
#include "tests/driver/process.h"

namespace attn::testing {
namespace {

constexpr const char* kModels =
    "size T\n"
    "\n"
    "train model one(x: [T, 3]) -> y {\n"
    "  p[i,j] = softmax[j] (x[i,j])\n"
    "  y[i]   = sum[j] p[i,j] * x[i,j]^2\n"
    "}\n"
    "\n"
    "model two(x: [T]) -> y {\n"
    "  y[i] = exp(x[i])\n"
    "}\n";

class Emit : public Folder {
 protected:
  std::string emitted(std::vector<std::string> options) {
    options.insert(options.begin(), {"emit", file("m.attn", kModels)});
    const Ended e = attnc(options);
    EXPECT_EQ(e.status, 0) << e.error;
    return e.out;
  }
  // Elaborating what was printed prints it again.
  void expect_program(const std::string& text) {
    const Ended again = attnc({"emit", file("again.attn", text), "--stage=graph"});
    EXPECT_EQ(again.status, 0) << again.error << text;
    EXPECT_EQ(again.out, text);
  }
};

TEST_F(Emit, ATreeIsTheProgramInItsLayout) { EXPECT_EQ(emitted({"--stage=ast"}), kModels); }

TEST_F(Emit, EveryStageOfOneModelIsAProgram) {
  for (const char* model : {"one", "two"}) {
    expect_program(emitted({"--stage=graph", "--model", model}));
    // The gradient of a model that does not say `train`, too.
    const std::string gradient = emitted({"--stage=gradient", "--model", model});
    EXPECT_NE(gradient.find("dx[i"), std::string::npos) << gradient;
    expect_program(gradient);
  }
}

TEST_F(Emit, AfterDeriveIsTheRawForm) {
  const std::string raw = emitted({"--stage=gradient", "--after=derive", "--model", "one"});
  EXPECT_NE(raw, emitted({"--stage=gradient", "--model", "one"}));
  EXPECT_NE(raw.find("dp.lse"), std::string::npos) << raw;
  expect_program(raw);
}

TEST_F(Emit, JacobianAndHessianProductsArePrograms) {
  for (const char* stage : {"--stage=jvp", "--stage=hvp"}) {
    file("loss.attn",
         "size T\nmodel m(x: [T]) -> y, loss {\n  param w: [T]\n  y[i] = tanh(w[i] * x[i])\n"
         "  loss = sum[i] y[i]^2\n}\n");
    const Ended simplified = attnc({"emit", "loss.attn", stage});
    const Ended raw = attnc({"emit", "loss.attn", stage, "--after=derive"});
    EXPECT_EQ(simplified.status + raw.status, 0) << simplified.error << raw.error;
    EXPECT_NE(simplified.out, raw.out);
    EXPECT_NE(simplified.out.find("tw: [T]"), std::string::npos) << simplified.out;
    // Printed by itself, a program does not know which inputs are tangents, and orders factors
    // anew.
    for (const std::string& text : {simplified.out, raw.out})
      expect_program(attnc({"emit", file("again.attn", text), "--stage=graph"}).out);
    const Ended by = attnc({"emit", "loss.attn", stage, "--wrt", "x"});
    EXPECT_EQ(by.out.find("tw: [T]"), std::string::npos) << by.out;
    EXPECT_NE(by.out.find("tx: [T]"), std::string::npos) << by.out;
  }
  const Ended plan = attnc({"emit", "loss.attn", "--stage=plan", "--derive=jvp,hvp"});
  for (const char* function : {"\n  jvp\n", "\n  hvp\n"})
    EXPECT_NE(plan.out.find(function), std::string::npos) << plan.out;
  const Ended tex = attnc({"emit", "loss.attn", "--stage=tex", "--derive=jvp"});
  for (const char* part : {"% jvp of m\n", "\\dot{w}"})
    EXPECT_NE(tex.out.find(part), std::string::npos) << tex.out;
}

TEST_F(Emit, AHessianNeedsAScalarOutput) {
  const Ended e = attnc({"emit", file("m.attn", kModels), "--stage=hvp", "--model", "two"});
  EXPECT_EQ(e.status, 1);
  EXPECT_EQ(e.out, "");
  EXPECT_NE(e.error.find("a Hessian product needs a real scalar output, which `two` has not"),
            std::string::npos)
      << e.error;
}

TEST_F(Emit, AHessianIsOfTheModelsThatHaveALoss) {
  const std::string text =
      std::string(kModels) + "\nmodel three(x: [T]) -> z {\n  z = sum[i] x[i]^3\n}\n";
  const Ended e = attnc({"emit", file("three.attn", text), "--stage=hvp"});
  EXPECT_EQ(e.status, 0) << e.error;
  EXPECT_NE(e.out.find("model three"), std::string::npos) << e.out;
  EXPECT_EQ(e.out.find("model one"), std::string::npos) << e.out;
}

TEST_F(Emit, APassPrintsOncePerModel) {
  const std::string text = emitted({"--stage=gradient", "--after=derive"});
  EXPECT_NE(text.find("model one"), std::string::npos) << text;
  EXPECT_NE(text.find("model two"), std::string::npos) << text;
  const std::string both = emitted({"--stage=graph"});
  EXPECT_NE(both.find("model one"), std::string::npos) << both;
  EXPECT_NE(both.find("model two"), std::string::npos) << both;
}

TEST_F(Emit, TwoModelsAreAProgramThatDeclaresItsSizesOnce) {
  for (const std::vector<std::string>& options : {std::vector<std::string>{"--stage=graph"},
                                                  {"--stage=gradient"},
                                                  {"--stage=gradient", "--after=derive"}}) {
    const std::string both = emitted(options);
    EXPECT_NE(both.find("model one"), std::string::npos) << both;
    EXPECT_NE(both.find("model two"), std::string::npos) << both;
    EXPECT_EQ(both.find("size T"), both.rfind("size T")) << both;
    expect_program(both);
  }
}

TEST_F(Emit, APlanNamesItsKernels) {
  const std::string plan = emitted({"--stage=plan"});
  for (const char* word : {"plan one", "plan two", "forward", "backward", "operations"})
    EXPECT_NE(plan.find(word), std::string::npos) << word << plan;
}

TEST_F(Emit, TexAndDotHoldEveryModelAndItsGradient) {
  const std::string tex = emitted({"--stage=tex"});
  for (const char* part : {"% one\n\\begin{align*}", "% gradient of one\n", "% two\n"})
    EXPECT_NE(tex.find(part), std::string::npos) << part << tex;
  const std::string dot = emitted({"--stage=dot"});
  for (const char* part : {"digraph \"one\"", "digraph \"gradient of one\"", "digraph \"two\""})
    EXPECT_NE(dot.find(part), std::string::npos) << part << dot;
}

TEST_F(Emit, AStatementIsLoops) {
  const std::string text = emitted({"--stage=statement", "--model", "two"});
  EXPECT_NE(text.find("for ("), std::string::npos) << text;
}

TEST_F(Emit, AStatementThatSeveralKernelsHaveIsPrintedOnce) {
  file("twice.attn",
       "size T\nmodel once(x: [T]) -> y {\n  y[i] = exp(x[i])\n}\n"
       "model again(u: [T]) -> v {\n  v[j] = exp(u[j])\n}\n");
  const Ended e = attnc({"emit", "twice.attn", "--stage=statement", "--progress=on"});
  EXPECT_EQ(e.status, 0) << e.error;
  const size_t module = e.out.find("module name=once_forward_0_y,");
  ASSERT_NE(module, std::string::npos) << e.out;
  EXPECT_EQ(e.out.find("module name=", module + 1), std::string::npos) << e.out;
  EXPECT_NE(e.out.find("// again_forward_0_v: the code of once_forward_0_y\n"), std::string::npos)
      << e.out;
  EXPECT_NE(e.error.find("[1/1] once_forward_0_y\n"), std::string::npos) << e.error;
}

}  // namespace
}  // namespace attn::testing
