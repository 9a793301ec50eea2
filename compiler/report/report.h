// What `attnc report` says about models: formulas, the derivation of their gradients, counts, plans
// and drawings, gathered as plain values and then written as a page.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/derive/derive.h"
#include "compiler/ir/graph.h"
#include "compiler/plan/plan.h"
#include "compiler/report/layout.h"
#include "compiler/text/formula.h"

namespace attn::report {

// ---- what the phases hand over

// A graph after one pass of the compiler's middle.
struct Stage {
  std::string pass, brief;
  ir::Graph graph;
};

// A derivative on its way: the stages, the first of which is derive's, and what came out of them.
struct Derived {
  plan::FunctionKind kind = plan::FunctionKind::backward;  // or jvp, hvp
  std::vector<Stage> stages;
  std::vector<derive::Origin> origins;  // of a gradient; ids are those of the first stage
  const ir::Graph* graph = nullptr;
};

struct Subject {
  std::string name, doc;
  const ir::Graph* written = nullptr;  // as elaborated
  const plan::Plan* plan = nullptr;
  std::vector<Derived> derived;
  // For numbers: what sizes are that are known only when the model runs.
  std::map<std::string, int64_t> sizes;
};

// ---- what is said

// The formula of a tensor.
struct Formula : text::Formula {
  std::string name;
  bool operator==(const Formula&) const = default;
};
// The whole formula but its condition.
text::Math equation(const Formula& f);

// What one pass did to one definition; nothing before: it is new, nothing after: it is gone.
struct Change {
  std::optional<Formula> before, after;
};
struct Step {
  std::string pass, brief;
  std::vector<Change> changes;
};

// A line of a derivative: the rules that made it, and the passes that changed it, in order.
struct Line {
  Formula formula;
  std::string block;  // that the tensor belongs to; names in the formula are relative to it
  std::vector<std::string> rules;                      // HTML
  std::vector<std::pair<std::string, Change>> passes;  // by name
  bool is_output = false;
};

// Why a quantity has the derivative that it has: the chain rule, one summand for each reader of it,
// and the same with every intermediate derivative written out (empty where that is too long or no
// different).
struct Chain {
  std::string tensor;
  text::Math local, expanded;
};

// A quantity as a polynomial in the sizes, also in the language's notation.
struct Count {
  text::Math formula;
  std::string text;
  // With the sizes that are known or given put in: the number, or, where others are left and it
  // says more, a formula.
  std::optional<double> value;
  text::Math partly;
};

struct Parameter {
  std::string name, shape;
  Count count;
};

// Where a tensor is while a function runs.
struct Stored {
  std::string name, shape, place;  // "given", "result", "saved", "workspace", "tiles only", …
  Count bytes;                     // of what it would take; it does only where it is stored
  bool in_memory = false;
  bool unmaterialised = false;
};

struct KernelLine {
  std::string kind, brief;
  std::vector<std::string> writes, reads, tiles;
  Count operations;
  text::Math order;  // the terms that grow fastest, as in O(N^2 D)
};

struct FunctionReport {
  plan::FunctionKind kind = plan::FunctionKind::forward;
  std::string name;
  std::vector<KernelLine> kernels;
  std::vector<Stored> tensors;
  Count operations, saved, workspace;  // saved and workspace in bytes
  text::Math order;
};

// A drawing with what stands in its boxes.
struct Box {
  std::string name, title, detail, hint;  // two lines and a hover text
  std::string look;                       // "input", "output", "stored", "tile", "inline", "f"
  std::string with;  // parameters and the like, which have no boxes of their own
};
struct Drawing {
  std::string caption;
  Layout layout;
  std::vector<Box> boxes;           // of its nodes
  std::vector<std::string> titles;  // of its groups
};

struct Section {
  std::string title;  // of the block; empty: of none
  std::vector<Formula> formulas;
};

struct Derivative {
  plan::FunctionKind kind = plan::FunctionKind::backward;
  std::string name, what;  // "gradient", "Gradient"
  std::vector<Line> lines;
  std::vector<Step> steps;
  std::optional<Drawing> drawing;
};

struct SizeLine {
  std::string name, value;  // "512", "1..4096", "D / H", "any", "any, here 1024"
};

struct ModelReport {
  std::string name, doc;
  std::vector<SizeLine> sizes;
  std::vector<std::string> inputs, outputs;  // "x: [B, T, D]"
  std::vector<Section> sections;
  std::vector<Chain> chains;
  Drawing drawing;
  std::vector<Derivative> derivatives;
  std::vector<Parameter> parameters;
  Count parameter_count;
  std::vector<FunctionReport> functions;
};

struct Report {
  std::string file, version;
  std::vector<ModelReport> models;
};

ModelReport collect(const Subject& subject);

// A page that needs nothing but itself.
std::string html(const Report& r);

}  // namespace attn::report
