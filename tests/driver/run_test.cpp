// attnc run: arrays by name, in files of every kind; kernels and the evaluator agree.
#include "tests/driver/run.h"

#include <sstream>

namespace attn::testing {
namespace {

TEST_F(Run, KernelsAndTheEvaluatorStartFromTheSameWeights) {
  Array dy{ATTN_F32, {5, 4}, {}};
  for (int k = 0; k < 20; ++k) dy.values.push_back(std::cos(3 * k));
  const auto base = with(inputs(), {"--gradient", "--cotangent", "y=" + npy("dy.npy", dy)});
  for (const char* seed : {"7", "8"}) {
    const std::string s = seed;
    Ended e = attnc(with(base, {"--seed", s, "--out", "kernels" + s, "--threads", "2"}));
    ASSERT_EQ(e.status, 0) << e.error;
    EXPECT_EQ(e.out, "");
    e = attnc(with(base, {"--seed", s, "--out", "truth" + s, "--reference"}));
    ASSERT_EQ(e.status, 0) << e.error;
    const std::vector<std::string> names = names_in(path("kernels" + s));
    EXPECT_EQ(names, (std::vector<std::string>{"db.npy", "dtable.npy", "dw.npy", "dx.npy",
                                               "loss.npy", "y.npy"}));
    EXPECT_EQ(names, names_in(path("truth" + s)));
    for (const std::string& name : names)
      expect_near("kernels" + s + "/" + name, "truth" + s + "/" + name, 1e-5);
  }
  EXPECT_NE(loaded("truth7/y.npy").values, loaded("truth8/y.npy").values);
  // What keep hides is 0, exactly, and so is the gradient through it.
  const Array dx = loaded("kernels7/dx.npy");
  for (int d = 0; d < 4; ++d) EXPECT_EQ(dx.values[4 + d], 0);
  // The same call gives the same bytes.
  ASSERT_EQ(attnc(with(base, {"--seed", "7", "--out", "again", "--threads", "1"})).status, 0);
  for (const std::string& name : names_in(path("again")))
    EXPECT_TRUE(read_bytes(path("again/" + name)) == read_bytes(path("kernels7/" + name))) << name;
}

TEST_F(Run, ProductsAlongTangentsAndByChosenNames) {
  Array tx{ATTN_F32, {5, 4}, {}}, tb{ATTN_F32, {4}, {1, -1, 0.5, 2}};
  for (int k = 0; k < 20; ++k) tx.values.push_back(std::cos(5 * k));
  const auto base = with(inputs(), {"--jvp", "--hvp", "--tangent", "x=" + npy("tx.npy", tx),
                                    "--tangent", "b=" + npy("tb.npy", tb)});
  ASSERT_EQ(attnc(with(base, {"--out", "kernels"})).status, 0);
  ASSERT_EQ(attnc(with(base, {"--out", "truth", "--reference"})).status, 0);
  const std::vector<std::string> names = names_in(path("kernels"));
  EXPECT_EQ(names, (std::vector<std::string>{"hb.npy", "htable.npy", "hw.npy", "hx.npy", "loss.npy",
                                             "tloss.npy", "ty.npy", "y.npy"}));
  EXPECT_EQ(names, names_in(path("truth")));
  for (const std::string& name : names) expect_near("kernels/" + name, "truth/" + name, 1e-5);
  // The tangent of w is 0 where it is not given: the same as when there is none.
  ASSERT_EQ(attnc(with(base, {"--out", "some", "--reference", "--wrt", "b,x"})).status, 0);
  EXPECT_EQ(names_in(path("some")), (std::vector<std::string>{"hb.npy", "hx.npy", "loss.npy",
                                                              "tloss.npy", "ty.npy", "y.npy"}));
  expect_near("some/ty.npy", "truth/ty.npy", 1e-12);
  expect_near("some/hb.npy", "truth/hb.npy", 1e-12);
}

// The columns of a table's line, after its name.
std::vector<double> figures_of(const std::string& text, const std::string& name) {
  const size_t at = text.find("  " + name + " ");
  EXPECT_NE(at, std::string::npos) << name << " is not in:\n" << text;
  if (at == std::string::npos) return {};
  std::istringstream in(
      text.substr(at + 2 + name.size(), text.find('\n', at) - at - 2 - name.size()));
  std::vector<double> figures;
  for (std::string word; in >> word;)
    if (word != "%") figures.push_back(std::stod(word));
  return figures;
}

TEST_F(Run, TracesEveryKernelOfTheCall) {
  const Array dy{ATTN_F32, {5, 4}, std::vector<double>(20, 1)};
  const auto base =
      with(inputs(), {"--gradient", "--cotangent", "y=" + npy("dy.npy", dy), "--trace"});
  expect_refused(with(base, {"--reference"}), 2, "--trace is of kernels: not with --reference");
  const Ended e = attnc(with(base, {"--out", "out"}));
  ASSERT_EQ(e.status, 0) << e.error;
  const size_t backward = e.out.find(" backward ");
  ASSERT_NE(backward, std::string::npos) << e.out;
  for (const std::string& table : {e.out.substr(0, backward), e.out.substr(backward)}) {
    const std::vector<double> whole = figures_of(table, "together");
    ASSERT_EQ(whole.size(), 6u) << table;
    EXPECT_EQ(whole[0], 1) << "calls";
    EXPECT_GT(whole[1], 0) << "ms";
    EXPECT_EQ(whole[2], 100) << "share";
    // The kernels' lines are of one call each, and take no longer than the call.
    std::istringstream lines(table);
    double shares = 0;
    int kernels = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.compare(0, 2, "  ") != 0 || line.compare(0, 10, "  together") == 0) continue;
      const std::vector<double> f = figures_of(table, line.substr(2, line.find("   ", 2) - 2));
      ASSERT_EQ(f.size(), 6u) << line;
      EXPECT_EQ(f[0], 1) << line;
      shares += f[2];
      ++kernels;
    }
    EXPECT_GT(kernels, 2) << table;
    EXPECT_LT(shares, 101) << table;
  }
}

TEST_F(Run, RefusesTangentsThatMakeNoSense) {
  const Array t{ATTN_F32, {4}, {1, 2, 3, 4}};
  const auto base = with(inputs(), {"--reference", "--out", "out"});
  const std::string given = "b=" + npy("t.npy", t);
  expect_refused(with(base, {"--tangent", given}), 2, "--tangent is for --jvp and --hvp");
  expect_refused(with(base, {"--jvp", "--tangent", "token=t.npy"}), 2, "`token` is not real");
  expect_refused(with(base, {"--jvp", "--tangent", "tabel=t.npy"}), 2, "did you mean `table`?");
  expect_refused(with(base, {"--jvp", "--tangent", given, "--tangent", given}), 2, "given twice");
  expect_refused(with(base, {"--jvp", "--tangent", given, "--wrt", "w"}), 2,
                 "--wrt leaves out `b`");
  expect_refused(with(base, {"--jvp", "--tangent", "w=t.npy"}), 5, "tw");
  expect_refused(with(base, {"--gradient", "--wrt", "token"}), 2, "--wrt token: no real input");
}

TEST_F(Run, TakesFilesOfOtherTypesAndWeights) {
  auto base = inputs();
  base.push_back("--reference");
  Array w{ATTN_F32, {4, 4}, {}}, b{ATTN_F32, {4}, {1, 2, 3, 4}};
  for (int k = 0; k < 16; ++k) w.values.push_back(0.125 * k);
  ASSERT_EQ(attnc(with(base, {"--in", "w=" + npy("w.npy", w), "--in", "b=" + npy("b.npy", b),
                              "--out", "one"}))
                .status,
            0);
  // As float64, and by the name in a safetensors file.
  w.type = b.type = ATTN_F64;
  Ended e = attnc(with(base, {"--in", "w=" + npy("w64.npy", w), "--in",
                              "b=" + weights("b.safetensors", "b", b), "--out", "two"}));
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_TRUE(read_bytes(path("one/y.npy")) == read_bytes(path("two/y.npy")));
}

TEST_F(Run, WeightsMustHaveWhatIsNotGiven) {
  auto base = with(inputs(), {"--reference", "--out", "out"});
  Array b{ATTN_F32, {4}, {1, 2, 3, 4}};
  const std::string file = weights("b.safetensors", "b", b);
  expect_refused(with(base, {"--weights", file}), 3, "b.safetensors: has no tensor `table`");
  expect_refused(with(base, {"--in", "w=" + file}), 3, "b.safetensors: has no tensor `w`");
  expect_refused(with(base, {"--weights", "missing.safetensors"}), 3,
                 "missing.safetensors: No such file");
}

TEST_F(Run, TakesACheckpointOfSeveralFilesAndSaysHowItDiffers) {
  file("m.attn",
       "model m(x: [2]) -> y {\n  param w: [2, 2], b: [2] = constant(5)\n"
       "  y[i] = sum[j] w[i,j] * x[j] + b[i]\n}\n");
  npy("x.npy", {ATTN_F32, {2}, {1, 10}});
  weights("1.safetensors", "w", {ATTN_F64, {4}, {1, 2, 3, 4}});
  weights("2.safetensors", "mask", {ATTN_F32, {1}, {0}});
  file("model.safetensors.index.json",
       R"({"weight_map": {"mask": "2.safetensors", "w": "1.safetensors"}})");
  const std::vector<std::string> base = {"run",   "m.attn", "--in",      "x=x.npy", "--reference",
                                         "--out", "out",    "--weights", "."};
  expect_refused(base, 3, ".: has no tensor `b`");
  weights("w.safetensors", "w", {ATTN_F64, {3}, {1, 2, 3}});
  expect_refused({"run", "m.attn", "--in", "x=x.npy", "--weights", "w.safetensors", "--reference"},
                 5, "w.safetensors: `w` has shape [3], must have [2, 2]");
  const Ended e = attnc(with(base, {"--init-missing"}));
  ASSERT_EQ(e.status, 0) << e.error;
  EXPECT_EQ(e.error,
            "warning: .: `w` has shape [4], taken as [2, 2]\n"
            "warning: .: has no tensor `b`\n"
            "warning: .: `mask` is not in the model\n"
            "note: 1 of 2 parameters are initialised at random (seed 1)\n"
            "wrote out/y.npy\n");
  EXPECT_EQ(loaded("out/y.npy").values, (std::vector<double>{26, 48}));
}

TEST_F(Run, GradientsOfSharedParametersAddUp) {
  file("m.attn",
       "block f(x: [..., D]) -> y {\n  param w: [D, D]\n"
       "  y[..., d] = tanh(sum[k] w[d,k] * x[..., k])\n}\n"
       "train model shared(x: [3]) -> loss {\n  a = f(x) as _\n  loss = twice(a)\n}\n"
       "block twice(a: [D]) -> loss {\n  b = f(a) as g\n  c = f(b) using g\n"
       "  loss = sum[d] c[d]^2\n}\n"
       "train model plain(x: [3]) -> loss {\n  param w: [3, 3], loss.g.w: [3, 3], v: [3, 3]\n"
       "  a[d] = tanh(sum[k] w[d,k] * x[k])\n  b[d] = tanh(sum[k] loss.g.w[d,k] * a[k])\n"
       "  c[d] = tanh(sum[k] v[d,k] * b[k])\n  loss = sum[d] c[d]^2\n}\n");
  Array w{ATTN_F32, {3, 3}, {}};
  for (int k = 0; k < 9; ++k) w.values.push_back(std::sin(k));
  npy("w.npy", w);
  npy("x.npy", {ATTN_F32, {3}, {0.5, -1, 2}});
  std::vector<std::string> base = {"run",  "m.attn",  "--gradient", "--in",          "x=x.npy",
                                   "--in", "w=w.npy", "--in",       "loss.g.w=w.npy"};
  Ended e = attnc(with(base, {"--model", "shared", "--out", "shared"}));
  ASSERT_EQ(e.status, 0) << e.error;
  e = attnc(with(base, {"--model", "plain", "--in", "v=w.npy", "--reference", "--out", "plain"}));
  ASSERT_EQ(e.status, 0) << e.error;
  const Array first = loaded("plain/dloss.g.w.npy"), second = loaded("plain/dv.npy");
  const Array both = loaded("shared/dloss.g.w.npy");
  for (size_t k = 0; k < 9; ++k)
    EXPECT_NEAR(both.values.at(k), first.values[k] + second.values[k], 1e-5) << k;
  expect_near("shared/dw.npy", "plain/dw.npy", 1e-5);
}

TEST_F(Run, NamesWhatIsMissing) {
  auto base = with(inputs(), {"--reference", "--out", "out"});
  std::vector<std::string> less(base.begin(), base.end());
  less.erase(less.begin() + 4, less.begin() + 6);
  expect_refused(less, 2, "words needs the input `token`: --in token=FILE.npy");
  expect_refused(with(base, {"--gradient"}), 2,
                 "the output `y` needs a cotangent: --cotangent y=FILE.npy");
  expect_refused(with(base, {"--gradient", "--cotangent", "y=x.npy", "--cotangent", "z=x.npy"}), 2,
                 "words has no real output `z`");
  expect_refused(with(base, {"--in", "x=x.npy"}), 2, "--in x is given twice");
  expect_refused(with(base, {"--in", "b=missing.npy"}), 3, "missing.npy: No such file");
}

TEST_F(Run, RefusesWhatDoesNotFit) {
  for (const char* how : {"--reference", "--no-cache=true"}) {
    // The second leaves kernels and their cache as they are.
    auto base = with(inputs(), {"--out", "out"});
    if (std::string(how) == "--reference") base.push_back(how);
    Array b{ATTN_F32, {5}, {1, 2, 3, 4, 5}}, flat{ATTN_F32, {4, 1}, {1, 2, 3, 4}},
        whole{ATTN_I32, {4}, {1, 2, 3, 4}};
    expect_refused(with(base, {"--in", "b=" + npy("b.npy", b)}), 5, "b");
    expect_refused(with(base, {"--in", "b=" + npy("b.npy", flat)}), 5, "b");
    expect_refused(with(base, {"--in", "b=" + npy("b.npy", whole)}), 5,
                   "b is i32 in the file, but f32 in the model");
    // A token that the table lacks.
    npy("token.npy", {ATTN_I32, {5}, {0, 5, 6, 3, 1}});
    expect_refused(base, 5, "table");
    npy("token.npy", {ATTN_I32, {5}, {0, 5, -1, 3, 1}});
    expect_refused(base, 5, "table");
    // Lengths that disagree.
    npy("token.npy", {ATTN_I32, {4}, {0, 5, 3, 3}});
    expect_refused(base, 5, "T");
  }
}

TEST_F(Run, ATokenBehindAMaskIsNotLookedUp) {
  auto base = with(inputs(), {"--seed", "3"});
  npy("token.npy", {ATTN_I32, {5}, {0, 1000, 3, 3, 1}});  // keep is false there
  ASSERT_EQ(attnc(with(base, {"--out", "one"})).status, 0);
  ASSERT_EQ(attnc(with(base, {"--out", "two", "--reference"})).status, 0);
  expect_near("one/y.npy", "two/y.npy", 1e-5);
}

TEST_F(Run, WorksWithoutRowsAndWritesWhereItIsTold) {
  file("m.attn", kModel);
  const Array x{ATTN_F32, {0, 4}, {}}, token{ATTN_I32, {0}, {}}, keep{ATTN_BOOL, {0}, {}};
  const std::vector<std::string> base{"run",  "m.attn",
                                      "--in", "x=" + npy("x.npy", x),
                                      "--in", "token=" + npy("token.npy", token),
                                      "--in", "keep=" + npy("keep.npy", keep)};
  for (const char* how : {"--seed=1", "--reference"}) {
    const Ended e = attnc(with(base, {how, "--out", "deep/er"}));
    ASSERT_EQ(e.status, 0) << e.error;
    EXPECT_EQ(loaded("deep/er/y.npy").extents, (std::vector<int64_t>{0, 4}));
    EXPECT_EQ(loaded("deep/er/loss.npy").values, std::vector<double>{0});
  }
  EXPECT_EQ(attnc(with(base, {"--reference", "--out", "m.attn/out"})).status, 3);
}

TEST_F(Run, ChoosesAmongModels) {
  file("two.attn", "model a(x: f32) -> y { y = x + 1 }\nmodel b(x: f32) -> y { y = x * x }\n");
  const std::string x = npy("x.npy", {ATTN_F32, {}, {3}});
  expect_refused({"run", "two.attn", "--in", "x=" + x, "--reference"}, 2,
                 "two.attn has the models a, b: choose one with --model");
  ASSERT_EQ(attnc({"run", "two.attn", "--model", "b", "--in", "x=" + x, "--reference"}).status, 0);
  EXPECT_EQ(loaded("y.npy").values, std::vector<double>{9});
  // A gradient is there without `train`, and the cotangent of a scalar is 1.
  ASSERT_EQ(
      attnc({"run", "two.attn", "--model", "b", "--in", "x=" + x, "--reference", "--gradient"})
          .status,
      0);
  EXPECT_EQ(loaded("dx.npy").values, std::vector<double>{6});
}

TEST_F(Run, AnOutputThatIsCalledLikeAGradientIsAnError) {
  file("d.attn", "train model m(x: [3]) -> dx {\n  dx[i] = x[i]^2\n}\n");
  const Ended e = attnc({"check", "d.attn"});
  EXPECT_EQ(e.status, 1) << e.error;
  EXPECT_NE(e.error.find("`dx`"), std::string::npos) << e.error;
  EXPECT_NE(e.error.find("`x`"), std::string::npos) << e.error;
}

TEST_F(Run, HugeNumbersOfTheShapeAreNoCrash) {
  file("m.attn", kModel);
  // A header that promises 2^62 elements.
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4), }";
  header.resize(117, ' ');
  header += '\n';
  const std::string npy = std::string("\x93NUMPY\x01\x00", 8) + '\x76' + '\x00' + header;
  file("x.npy", npy);
  expect_refused({"run", "m.attn", "--in", "x=x.npy", "--reference", "--out", "out"}, 3, "x.npy");
}

}  // namespace
}  // namespace attn::testing
