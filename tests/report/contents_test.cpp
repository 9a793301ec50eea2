// What reports say: the answers of the exercises, and what every page owes its reader.
#include "tests/driver/process.h"
#include "tests/report/xml.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ATTN_SOURCE_DIR;

std::string page(const fs::path& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"report", file.string()};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended e = attnc(arguments, {.folder = fs::temp_directory_path()});
  EXPECT_EQ(e.status, 0) << file << "\n" << e.error;
  return e.out;
}

std::string report(const fs::path& file, const std::vector<std::string>& more = {}) {
  return spoken(page(file, more));
}

void expect_lines(const std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    EXPECT_NE(text.find(line), std::string::npos) << "not there: " << line;
}

TEST(Contents, APageAsItIsRead) {
  expect_golden(kSource / "tests/report/small.txt", report(kSource / "tests/report/small.attn"));
}

// df/dx'_j = sum_i df/dy_j dy_j/dp_ij dp_ij/dx'_j, and df/dx_i = sum_j df/dy_j dy_j/dx_i
// + sum_lj df/dy_j dy_j/dp_lj dp_lj/dx_i.
TEST(Contents, TheStructureOfTheGradientsOfAHead) {
  const std::string text = report(kSource / "examples/reports/structure.attn", {"--model", "head"});
  expect_lines(
      text,
      {"∂f/∂xq[j] = ∑[i] ∂f/∂y[j] ∂y[j]/∂p[i,j] ∂p[i,j]/∂xq[j]\n",
       "∂f/∂x[i] = ∑[i′,j] ∂f/∂y[j] ∂y[j]/∂p[i′,j] ∂p[i′,j]/∂x[i] + ∑[j] ∂f/∂y[j] ∂y[j]/∂x[i]\n",
       "p [L, L]\nsoftmax over i\nwk, wq\n", "xq → p\n", "y → f\n",
       "(box function)\nf, by which the derivatives are taken\nf\nany function\n"});
}

// The gradients by all weights and biases, in each of the three kinds of attention.
TEST(Contents, TheGradientsOfThreeFlavours) {
  const fs::path file = kSource / "examples/reports/flavours.attn";
  struct Flavour {
    const char* model;
    const char* keys;  // what keys and values are made of
    const char* mask;  // of what depends on two positions
    const char* over_keys;
    const char* over_queries;
  };
  const Flavour flavours[] = {
      {"encoder", "x[b,j,d]", "", "j", "i"},
      {"decoder", "x[b,j,d]", " where j <= i", "j where j <= i", "i where j <= i"},
      {"encoder_decoder", "memory[b,j,d]", "", "j", "i"}};
  for (const Flavour& f : flavours) {
    SCOPED_TRACE(f.model);
    std::string text = report(file, {"--model", f.model});
    // Features of what keys are made of have a letter of their own.
    for (size_t at = 0; (at = text.find("b,j,c]", at)) != std::string::npos;)
      text.replace(at, 6, "b,j,d]");
    for (size_t at = 0; (at = text.find("[h,e,c]", at)) != std::string::npos;)
      text.replace(at, 7, "[h,e,d]");
    const std::string mask = f.mask, keys = f.keys;
    expect_lines(
        text,
        {"dz[b,h,i,e] = sum[d] dy[b,i,d] * wo[d,h,e]\n",
         "dp[b,h,i,j] = sum[e] dz[b,h,i,e] * v[b,h,j,e]" + mask,
         "dp.lse[b,h,i] = -(sum[e] dz[b,h,i,e] * z[b,h,i,e])",
         "ds[b,h,i,j] = p[b,h,i,j] * (dp[b,h,i,j] + dp.lse[b,h,i])" + mask,
         "dq[b,h,i,e] = (sum[" + std::string(f.over_keys) + "] ds[b,h,i,j] * k[b,h,j,e]) / sqrt(E)",
         "dk[b,h,j,e] = (sum[" + std::string(f.over_queries) +
             "] ds[b,h,i,j] * q[b,h,i,e]) / sqrt(E)",
         "dv[b,h,j,e] = sum[" + std::string(f.over_queries) + "] p[b,h,i,j] * dz[b,h,i,e]",
         "dwq[h,e,d] = sum[b,i] dq[b,h,i,e] * x[b,i,d]",
         "dwk[h,e,d] = sum[b,j] dk[b,h,j,e] * " + keys,
         "dwv[h,e,d] = sum[b,j] dv[b,h,j,e] * " + keys,
         "dwo[d,h,e] = sum[b,i] dy[b,i,d] * z[b,h,i,e]", "dbq[h,e] = sum[b,i] dq[b,h,i,e]",
         "dbk[h,e] = sum[b,j] dk[b,h,j,e]", "dbv[h,e] = sum[b,j] dv[b,h,j,e]",
         "dbo[d] = sum[b,i] dy[b,i,d]", ", a log-sum-exp: a term e receives",
         "re-bracket rewrites"});
  }
}

// Nh (2 Di Dh + Di Do) + Nh Do Dout + Dout.
TEST(Contents, TheParametersOfMultiHeadAttention) {
  EXPECT_EQ(9 * (2 * 400 * 100 + 400 * 100) + 9 * 100 * 400 + 400, 1440400);
  expect_lines(report(kSource / "examples/reports/parameters.attn"),
               {"all | | 2*Di*Nh*Dh + Di*Nh*Do + Nh*Do*Dout + Dout | 1 440 400\n"});
}

// O(N^2 D + N D^2) for both, but scores in O(N^2 P) instead of O(N^2 D).
TEST(Contents, TheCostsOfTwoEncodings) {
  const std::string text = report(kSource / "examples/reports/encodings.attn");
  expect_lines(text,
               {"operations | 2*N*D + 6*N*D*D + 9*N*N + 4*N*N*D", "O(N D^2 + N^2 D)\n",
                "operations | 2*N*D*D + 9*N*N + 2*N*N*D + 2*N*N*P", "O(N D^2 + N^2 D + N^2 P)\n"});
}

TEST(Contents, SizesThatAreGivenBecomeNumbers) {
  const fs::path file = kSource / "tests/report/small.attn";
  const std::string formula = "forward | operations | 6*T*D*D + 12*T*T + 4*T*T*D\n";
  const std::string value = "478 400 |";  // at T = 100
  EXPECT_EQ(6 * 100 * 8 * 8 + 12 * 100 * 100 + 4 * 100 * 100 * 8, 478400);
  const std::string open = report(file);
  expect_lines(open, {formula});
  EXPECT_EQ(open.find(value), std::string::npos);
  expect_lines(report(file, {"--size", "T=100"}), {formula + value});
  // Built in, it may change the plan.
  expect_lines(report(file, {"-D", "T=100"}), {"17*T*T + 4*T*T*D\n528 400 |"});
  EXPECT_EQ(6 * 100 * 8 * 8 + 17 * 100 * 100 + 4 * 100 * 100 * 8, 528400);
}

TEST(Contents, UnmaterialisedTensorsAreNamedAsNeverStored) {
  const std::string text = report(kSource / "tests/report/small.attn");
  expect_lines(text, {"(box tile)\ns[i,j] = ", "(box tile)\np.lse[i] = "});
  std::string unmaterialised;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (const size_t at = line.find(" | in tiles only, never stored"); at != std::string::npos) {
      EXPECT_EQ(line.substr(at), " | in tiles only, never stored |");  // and takes no bytes
      unmaterialised += line.substr(0, line.find(' ')) + " ";
    }
  EXPECT_EQ(unmaterialised, "s s p dp ds ");
}

// Every program of the repository, but those whose parts need more than one model.
std::vector<fs::path> programs() {
  std::vector<fs::path> result = {kSource / "examples/attention/attention.attn",
                                  kSource / "examples/digits/digits.attn"};
  for (const char* folder : {"tests/stages", "examples/reports", "tests/report"})
    for (const fs::path& file : files_in(kSource / folder, ".attn")) result.push_back(file);
  return result;
}

TEST(Contents, EveryPageIsWellFormedAndNeedsNothingElse) {
  for (const fs::path& file : programs()) {
    SCOPED_TRACE(file);
    const std::string text = page(file, {"--derive=gradient"});
    EXPECT_EQ(xml_problem(text), "");
    for (const char* load : {"http:", "https:", "src=", "<link", "<script", "<img", "url(",
                             "@import", "<iframe", "<object"})
      EXPECT_EQ(text.find(load), std::string::npos) << load;
    for (const char* part : {"<meta name=\"viewport\"", "prefers-color-scheme: dark",
                             "@media print", "<svg", "<math", "alttext=", "<nav",
                             "class=\"full-size\""})
      EXPECT_NE(text.find(part), std::string::npos) << part;
    // Every link of the contents leads to a place in the page.
    for (size_t at = 0; (at = text.find("href=\"#", at)) != std::string::npos; ++at) {
      const size_t end = text.find('"', at + 7);
      EXPECT_NE(text.find("id=\"" + text.substr(at + 7, end - at - 7) + "\""), std::string::npos);
    }
  }
}

TEST(Contents, JacobianAndHessianProductsAreReportedToo) {
  const std::string text =
      report(kSource / "examples/attention/attention.attn", {"--derive=jvp,hvp"});
  expect_lines(text, {"Jacobian-vector product\n", "Hessian-vector product\n",
                      "tq[b,h,i,e] = tq.1[b,h,i,e] + tq.2[b,h,i,e]", "\njvp: ", "\nhvp: "});
}

}  // namespace
}  // namespace attn::testing
