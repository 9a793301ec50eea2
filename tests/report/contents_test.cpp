// What reports say: the answers of the exercises, and what every page owes its reader.
#include <nlohmann/json.hpp>

#include "tests/driver/process.h"
#include "tests/report/xml.h"
#include "tests/support/golden.h"

namespace attn::testing {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = ATTN_SOURCE_DIR;

std::string report(const fs::path& file, const std::string& format,
                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"report", file.string(), "--format", format};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Ended e = attnc(arguments, {.folder = fs::temp_directory_path()});
  EXPECT_EQ(e.status, 0) << file << "\n" << e.error;
  return e.out;
}

void expect_lines(const std::string& text, const std::vector<std::string>& lines) {
  for (const std::string& line : lines)
    EXPECT_NE(text.find(line), std::string::npos) << "not there: " << line;
}

TEST(Contents, AReportInMarkdown) {
  expect_golden(kSource / "tests/report/small.md",
                report(kSource / "tests/report/small.attn", "md"));
}

// df/dx'_j = sum_i df/dy_j dy_j/dp_ij dp_ij/dx'_j, and df/dx_i = sum_j df/dy_j dy_j/dx_i
// + sum_lj df/dy_j dy_j/dp_lj dp_lj/dx_i.
TEST(Contents, TheStructureOfTheGradientsOfAHead) {
  const std::string text =
      report(kSource / "examples/reports/structure.attn", "md", {"--model", "head"});
  expect_lines(
      text,
      {"\\frac{\\partial f}{\\partial \\mathit{xq}_{j}} = \\sum_{i} \\frac{\\partial f}{\\partial "
       "y_{j}}\\, \\frac{\\partial y_{j}}{\\partial p_{i,j}}\\, \\frac{\\partial "
       "p_{i,j}}{\\partial \\mathit{xq}_{j}}$",
       "\\frac{\\partial f}{\\partial x_{i}} = \\sum_{i',j} \\frac{\\partial f}{\\partial "
       "y_{j}}\\, "
       "\\frac{\\partial y_{j}}{\\partial p_{i',j}}\\, \\frac{\\partial p_{i',j}}{\\partial x_{i}} "
       "+ \\sum_{j} \\frac{\\partial f}{\\partial y_{j}}\\, \\frac{\\partial y_{j}}{\\partial "
       "x_{i}}$",
       "| `p [L, L]` | softmax over i | `x`, `xq` | `wk, wq` | tiles only |",
       "| `f` | any function | `y` |  |  |"});
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
      {"encoder", "x_{b,j,d}", "", "j", "i"},
      {"decoder", "x_{b,j,d}", ", where $j \\le i$", "j\\,:\\ j \\le i", "i\\,:\\ j \\le i"},
      {"encoder_decoder", "\\mathit{memory}_{b,j,d}", "", "j", "i"}};
  for (const Flavour& f : flavours) {
    SCOPED_TRACE(f.model);
    std::string text = report(file, "md", {"--model", f.model});
    // Features of what keys are made of have a letter of their own.
    for (size_t at = 0; (at = text.find("b,j,c}", at)) != std::string::npos;)
      text.replace(at, 6, "b,j,d}");
    for (size_t at = 0; (at = text.find("_{h,e,c}", at)) != std::string::npos;)
      text.replace(at, 8, "_{h,e,d}");
    const std::string mask = f.mask, keys = f.keys;
    expect_lines(
        text,
        {"$\\mathrm{d}z_{b,h,i,e} = \\sum_{d} \\mathrm{d}y_{b,i,d}\\, \\mathit{wo}_{d,h,e}$",
         "$\\mathrm{d}p_{b,h,i,j} = \\sum_{e} \\mathrm{d}z_{b,h,i,e}\\, v_{b,h,j,e}$" + mask + "\n",
         "$\\mathrm{d}p^{(\\mathrm{lse})}_{b,h,i} = -\\sum_{e} \\mathrm{d}z_{b,h,i,e}\\, "
         "z_{b,h,i,e}$",
         "$\\mathrm{d}s_{b,h,i,j} = p_{b,h,i,j}\\, \\left(\\mathrm{d}p_{b,h,i,j} + "
         "\\mathrm{d}p^{(\\mathrm{lse})}_{b,h,i}\\right)$" +
             mask + "\n",
         "\\mathrm{d}q_{b,h,i,e} = \\frac{1}{\\sqrt{E}} \\sum_{" + std::string(f.over_keys) +
             "} \\mathrm{d}s_{b,h,i,j}\\, k_{b,h,j,e}$",
         "\\mathrm{d}k_{b,h,j,e} = \\frac{1}{\\sqrt{E}} \\sum_{" + std::string(f.over_queries) +
             "} \\mathrm{d}s_{b,h,i,j}\\, q_{b,h,i,e}$",
         "\\mathrm{d}v_{b,h,j,e} = \\sum_{" + std::string(f.over_queries) +
             "} p_{b,h,i,j}\\, \\mathrm{d}z_{b,h,i,e}$",
         "\\mathrm{d}\\mathit{wq}_{h,e,d} = \\sum_{b,i} \\mathrm{d}q_{b,h,i,e}\\, x_{b,i,d}$",
         "\\mathrm{d}\\mathit{wk}_{h,e,d} = \\sum_{b,j} \\mathrm{d}k_{b,h,j,e}\\, " + keys + "$",
         "\\mathrm{d}\\mathit{wv}_{h,e,d} = \\sum_{b,j} \\mathrm{d}v_{b,h,j,e}\\, " + keys + "$",
         "\\mathrm{d}\\mathit{wo}_{d,h,e} = \\sum_{b,i} \\mathrm{d}y_{b,i,d}\\, z_{b,h,i,e}$",
         "\\mathrm{d}\\mathit{bq}_{h,e} = \\sum_{b,i} \\mathrm{d}q_{b,h,i,e}$",
         "\\mathrm{d}\\mathit{bk}_{h,e} = \\sum_{b,j} \\mathrm{d}k_{b,h,j,e}$",
         "\\mathrm{d}\\mathit{bv}_{h,e} = \\sum_{b,j} \\mathrm{d}v_{b,h,j,e}$",
         "\\mathrm{d}\\mathit{bo}_{d} = \\sum_{b,i} \\mathrm{d}y_{b,i,d}$",
         "through $p^{(\\mathrm{lse})}$, a log-sum-exp", "re-bracket rewrote it"});
  }
}

// Nh (2 Di Dh + Di Do) + Nh Do Dout + Dout.
TEST(Contents, TheParametersOfMultiHeadAttention) {
  const auto j =
      nlohmann::json::parse(report(kSource / "examples/reports/parameters.attn", "json"));
  const auto& count = j["models"][0]["parameter_count"];
  EXPECT_EQ(count["formula"], "2*Di*Nh*Dh + Di*Nh*Do + Nh*Do*Dout + Dout");
  EXPECT_EQ(count["value"], 9 * (2 * 400 * 100 + 400 * 100) + 9 * 100 * 400 + 400);
}

// O(N^2 D + N D^2) for both, but scores in O(N^2 P) instead of O(N^2 D).
TEST(Contents, TheCostsOfTwoEncodings) {
  const auto j = nlohmann::json::parse(report(kSource / "examples/reports/encodings.attn", "json"));
  const auto &absolute = j["models"][0]["functions"][0], &gaussian = j["models"][1]["functions"][0];
  EXPECT_EQ(absolute["grows_like"], "N\\, D^{2} + N^{2}\\, D");
  EXPECT_EQ(absolute["operations"]["formula"], "2*N*D + 6*N*D*D + 9*N*N + 4*N*N*D");
  EXPECT_EQ(gaussian["grows_like"], "N\\, D^{2} + N^{2}\\, D + N^{2}\\, P");
  EXPECT_EQ(gaussian["operations"]["formula"], "2*N*D*D + 9*N*N + 2*N*N*D + 2*N*N*P");
}

TEST(Contents, SizesThatAreGivenBecomeNumbers) {
  const fs::path file = kSource / "tests/report/small.attn";
  const auto open = nlohmann::json::parse(report(file, "json"));
  const auto given = nlohmann::json::parse(report(file, "json", {"--size", "T=100"}));
  const auto &before = open["models"][0]["functions"][0],
             &after = given["models"][0]["functions"][0];
  EXPECT_FALSE(before["operations"].contains("value"));
  EXPECT_EQ(before["operations"]["formula"], after["operations"]["formula"]);
  double sum = 0;
  for (const auto& k : after["kernels"])
    if (!k["only_where_not_finite"]) sum += k["operations"]["value"].get<double>();
  EXPECT_EQ(after["operations"]["value"], sum);
  // 6 T D D + 12 T T + 4 T T D.
  EXPECT_EQ(sum, 6.0 * 100 * 8 * 8 + 12.0 * 100 * 100 + 4.0 * 100 * 100 * 8);
  const auto built_in = nlohmann::json::parse(report(file, "json", {"-D", "T=100"}));
  EXPECT_TRUE(built_in["models"][0]["functions"][0]["operations"].contains("value"));
}

TEST(Contents, WideTensorsAreNamedAsNeverStored) {
  const auto j = nlohmann::json::parse(report(kSource / "tests/report/small.attn", "json"));
  std::string wide;
  for (const auto& f : j["models"][0]["functions"])
    for (const auto& t : f["tensors"]) {
      EXPECT_FALSE(t["wide"] && t["in_memory"]) << t;
      if (t["wide"]) wide += t["name"].get<std::string>() + " ";
    }
  EXPECT_EQ(wide, "s s p dp ds ");
  for (const auto& box : j["models"][0]["graph"]["boxes"])
    EXPECT_EQ(box["kind"] == "tile", box["name"] == "s" || box["name"] == "p") << box;
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
    const std::string page = report(file, "html", {"--derive=gradient"});
    EXPECT_EQ(xml_problem(page), "");
    for (const char* load : {"http:", "https:", "src=", "<link", "<script", "<img", "url(",
                             "@import", "<iframe", "<object"})
      EXPECT_EQ(page.find(load), std::string::npos) << load;
    for (const char* part : {"<meta name=\"viewport\"", "prefers-color-scheme: dark",
                             "@media print", "<svg", "<math", "alttext=", "<nav"})
      EXPECT_NE(page.find(part), std::string::npos) << part;
    // Every link of the contents leads to a place in the page.
    for (size_t at = 0; (at = page.find("href=\"#", at)) != std::string::npos; ++at) {
      const size_t end = page.find('"', at + 7);
      EXPECT_NE(page.find("id=\"" + page.substr(at + 7, end - at - 7) + "\""), std::string::npos);
    }
  }
}

// Braces match, environments end, and no formula stands outside mathematics.
void expect_balanced_tex(const std::string& text) {
  int depth = 0;
  std::vector<std::string> open;
  for (size_t k = 0; k < text.size(); ++k) {
    if (text[k] == '\\' && k + 1 < text.size()) {
      for (const char* word : {"\\begin{", "\\end{"})
        if (text.compare(k, std::string(word).size(), word) == 0) {
          const size_t begin = text.find('{', k) + 1;
          const std::string name = text.substr(begin, text.find('}', begin) - begin);
          if (word[1] == 'b') {
            open.push_back(name);
          } else {
            ASSERT_FALSE(open.empty()) << name;
            EXPECT_EQ(open.back(), name);
            open.pop_back();
          }
        }
      ++k;
      continue;
    }
    depth += text[k] == '{' ? 1 : text[k] == '}' ? -1 : 0;
    ASSERT_GE(depth, 0);
  }
  EXPECT_EQ(depth, 0);
  EXPECT_TRUE(open.empty());
}

TEST(Contents, EveryArticleIsBalanced) {
  for (const fs::path& file : programs()) {
    SCOPED_TRACE(file);
    const std::string text = report(file, "tex");
    expect_balanced_tex(text);
    expect_lines(
        text, {"\\documentclass", "\\begin{align*}", "\\begin{tikzpicture}", "\\end{document}\n"});
    // Underscores of names are escaped outside formulas.
    for (size_t at = 0; (at = text.find("\\texttt{", at)) != std::string::npos; ++at)
      for (size_t k = at + 8; text[k] != '}'; ++k)
        EXPECT_FALSE(text[k] == '_' && text[k - 1] != '\\') << text.substr(at, 40);
  }
}

TEST(Contents, JacobianAndHessianProductsAreReportedToo) {
  const std::string text =
      report(kSource / "examples/attention/attention.attn", "md", {"--derive=jvp,hvp"});
  expect_lines(text, {"### Jacobian-vector product", "### Hessian-vector product", "\\dot{q}",
                      "#### jvp\n", "#### hvp\n"});
}

}  // namespace
}  // namespace attn::testing
