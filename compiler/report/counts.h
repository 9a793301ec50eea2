// Quantities as polynomials in the sizes.
#pragma once

#include "compiler/report/report.h"

namespace attn::report {

Count count(const ir::Graph& g, const ir::Poly& p);

// What p grows like: its terms without coefficients, and without those that another term exceeds in
// every size. N^2 D + N D^2.
text::Math growth(const ir::Graph& g, const ir::Poly& p);

// "[B, T, D]", or nothing for a scalar.
std::string shape(const ir::Graph& g, const ir::Tensor& t);

// "1 234 567"; "3.5 MiB"; large and broken numbers to three or four digits.
std::string number_text(double value);
std::string bytes_text(double value);

std::vector<Parameter> parameters(const ir::Graph& g);
ir::Poly parameter_count(const ir::Graph& g);
std::vector<SizeLine> sizes(const ir::Graph& g, const std::map<std::string, int64_t>& given);

// A copy in which sizes that are known only when the model runs have the values given.
ir::Graph with_sizes(const ir::Graph& g, const std::map<std::string, int64_t>& given);

// Kernels, places of tensors, and totals of one function of a plan.
FunctionReport function_report(const plan::Function& f,
                               const std::map<std::string, int64_t>& given);

}  // namespace attn::report
