// Runs flat code: the loops, the instructions of one iteration, and how values are combined.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/evaluate/evaluate.h"
#include "compiler/evaluate/program.h"

namespace attn::evaluate {
namespace {

using ir::Combine;

constexpr double kLowest = -static_cast<double>(std::numeric_limits<float>::max());

// The value of a combination over nothing.
double neutral(Combine c, bool whole) {
  switch (c) {
    case Combine::max:
      return whole ? std::numeric_limits<int32_t>::min() : kLowest;
    case Combine::min:
      return whole ? std::numeric_limits<int32_t>::max() : -kLowest;
    case Combine::logsumexp:
      return kLowest;
    case Combine::prod:
      return 1;
    default:
      return 0;
  }
}

double neutral_of(const ir::Graph& g, const ir::Definition& d) {
  return neutral(d.combine, !ir::is_real(ir::arithmetic_type(g[d.target].storage)));
}

class Runner {
 public:
  Runner(const ir::Graph& g, const ir::Definition& d, Program& p, std::vector<double>& out)
      : g_(g), d_(d), p_(p), out_(out), r_(p.registers.data()), counters_(p.loops.size()) {
    neutral_ = neutral_of(g, d);
  }

  // `step`: the only value of the counter of the loop over steps, where there is one.
  void run(int64_t step) {
    // What does not depend on the index of an empty loop is not there to be read before it either.
    if (std::any_of(p_.loops.begin() + 1, p_.loops.end(),
                    [](const Program::Loop& l) { return l.extent <= 0; }))
      return;
    step_ = step;
    last_ = static_cast<int>(p_.loops.size()) - 1;
    if (iterate(p_.loops[0].code)) free_loop(1);
  }

 private:
  void free_loop(int level) {
    if (level > p_.free_loops) {
      element();
      return;
    }
    Program::Loop& loop = p_.loops[level];
    const bool steps = level == p_.step_loop;
    for (int64_t c = steps ? step_ : 0, end = steps ? step_ + 1 : loop.extent; c < end; ++c) {
      counters_[level] = c;
      r_[loop.index] = static_cast<double>(c);
      if (iterate(loop.code)) free_loop(level + 1);
    }
  }

  void element() {
    any_ = false;
    total_ = neutral_;
    terms_.clear();
    reduce(p_.free_loops + 1);
    if (p_.scattered) return;
    if (d_.combine == Combine::logsumexp) total_ = log_sum_exp();
    out_[offset()] = total_;
  }

  void reduce(int level) {
    if (level > last_) {
      point();
      return;
    }
    Program::Loop& loop = p_.loops[level];
    for (int64_t c = 0; c < loop.extent; ++c) {
      counters_[level] = c;
      r_[loop.index] = static_cast<double>(c);
      if (iterate(loop.code)) reduce(level + 1);
    }
  }

  size_t offset() const {
    int64_t sum = 0;
    for (const Program::Place& p : p_.place) {
      const double at = r_[p.value];
      if (!d_.position.empty() && !(at >= 0 && at < static_cast<double>(p.extent)))
        throw CallError(fmt::format("{}: a value is stored at {}, beyond the extent {}",
                                    g_[d_.target].name, at, p.extent));
      sum += p.stride * static_cast<int64_t>(at);
    }
    return static_cast<size_t>(sum);
  }

  // A NaN among the values of a max or min is their result; argmax finds the first.
  void point() {
    double value = r_[p_.result];
    switch (d_.combine) {
      case Combine::set:
        total_ = value;
        break;
      case Combine::sum:
        (p_.scattered ? out_[offset()] : total_) += value;
        break;
      case Combine::prod:
        total_ *= value;
        break;
      case Combine::max:
        if (!any_ || value > total_ || std::isnan(value)) total_ = value;
        break;
      case Combine::min:
        if (!any_ || value < total_ || std::isnan(value)) total_ = value;
        break;
      case Combine::argmax:
        if (!any_ || value > best_ || (std::isnan(value) && !std::isnan(best_))) {
          best_ = value;
          total_ = static_cast<double>(counters_[last_]);
        }
        break;
      case Combine::logsumexp:
        if (value != -std::numeric_limits<double>::infinity()) terms_.push_back(value);
        break;
    }
    any_ = true;
  }

  double log_sum_exp() const {
    if (terms_.empty()) return kLowest;
    double largest = *std::max_element(terms_.begin(), terms_.end());
    if (largest == std::numeric_limits<double>::infinity()) {
      bool bad = std::any_of(terms_.begin(), terms_.end(), [](double t) { return std::isnan(t); });
      return bad ? std::numeric_limits<double>::quiet_NaN() : largest;
    }
    double sum = 0;
    for (double t : terms_) sum += std::exp(t - largest);
    return largest + std::log(sum);
  }

  void locate(Access& a, int level) const {
    a.offset = a.base;
    for (int l = 1; l < level; ++l) a.offset += a.strides[l] * counters_[l];
  }

  double load_checked(const Access& a) const {
    int64_t offset = 0;
    for (const Access::Subscript& s : a.subscripts) {
      double at = r_[s.value];
      if (!(at >= 0 && at < static_cast<double>(s.extent))) return out_of_range(a, s, at);
      offset += s.stride * static_cast<int64_t>(at);
    }
    return a.data[offset];
  }

  double out_of_range(const Access& a, const Access::Subscript& s, double at) const {
    if (!a.strict) return std::numeric_limits<double>::quiet_NaN();
    // Subscripts are kept from the last dimension to the first.
    auto dimension = a.subscripts.size() - static_cast<size_t>(&s - a.subscripts.data());
    std::string text = fmt::format("{}: {} is read at {} in dimension {}, which has extent {}",
                                   g_[d_.target].name, g_[a.tensor].name, at, dimension, s.extent);
    if (a.from_data) throw CallError(text);
    throw InternalError(text);
  }

  double call(const Call& c) const {
    double x[8];
    std::vector<double> more;
    double* values = x;
    if (c.args.size() > 8) {
      more.resize(c.args.size());
      values = more.data();
    }
    for (size_t k = 0; k < c.args.size(); ++k) values[k] = r_[c.args[k]];
    return c.operation->value({values, c.args.size()});
  }

  // False where a condition fails.
  bool iterate(const std::vector<Instruction>& code) {
    double* r = r_;
    const Instruction* begin = code.data();
    const Instruction* end = begin + code.size();
    for (const Instruction* i = begin; i != end; ++i) {
      switch (i->code) {
        case Code::locate:
          locate(p_.accesses[i->a], i->b);
          break;
        case Code::load: {
          const Access& a = p_.accesses[i->a];
          r[i->target] = a.data[a.offset + a.strides[i->b] * counters_[i->b]];
          break;
        }
        case Code::load_at:
          r[i->target] = load_checked(p_.accesses[i->a]);
          break;
        case Code::copy:
          r[i->target] = r[i->a];
          break;
        case Code::add:
          r[i->target] = r[i->a] + r[i->b];
          break;
        case Code::multiply:
          r[i->target] = r[i->a] * r[i->b];
          break;
        case Code::reciprocal:
          r[i->target] = 1 / r[i->a];
          break;
        case Code::square:
          r[i->target] = r[i->a] * r[i->a];
          break;
        case Code::square_root:
          r[i->target] = std::sqrt(r[i->a]);
          break;
        case Code::power:
          r[i->target] = ir::power_value(r[i->a], r[i->b]);
          break;
        case Code::call:
          r[i->target] = call(p_.calls[i->a]);
          break;
        case Code::quotient:
          r[i->target] = r[i->b] == 0 ? 0 : std::floor(r[i->a] / r[i->b]);
          break;
        case Code::remainder:
          r[i->target] = r[i->b] == 0 ? r[i->a] : r[i->a] - r[i->b] * std::floor(r[i->a] / r[i->b]);
          break;
        case Code::at_least_zero:
          r[i->target] = r[i->a] >= 0;
          break;
        case Code::is_zero:
          r[i->target] = r[i->a] == 0;
          break;
        case Code::not_zero:
          r[i->target] = r[i->a] != 0;
          break;
        case Code::less:
          r[i->target] = r[i->a] < r[i->b];
          break;
        case Code::at_most:
          r[i->target] = r[i->a] <= r[i->b];
          break;
        case Code::equal:
          r[i->target] = r[i->a] == r[i->b];
          break;
        case Code::negation:
          r[i->target] = r[i->a] == 0;
          break;
        case Code::jump:
          i = begin + i->a - 1;
          break;
        case Code::jump_if_false:
          if (r[i->a] == 0) i = begin + i->b - 1;
          break;
        case Code::jump_if_true:
          if (r[i->a] != 0) i = begin + i->b - 1;
          break;
        case Code::require:
          if (r[i->a] == 0) return false;
          break;
      }
    }
    return true;
  }

  const ir::Graph& g_;
  const ir::Definition& d_;
  Program& p_;
  std::vector<double>& out_;
  double* r_;
  std::vector<int64_t> counters_;
  int last_ = 0;
  int64_t step_ = 0;
  double neutral_ = 0;
  // Of the element that is being combined.
  bool any_ = false;
  double total_ = 0, best_ = 0;
  std::vector<double> terms_;
};

}  // namespace

void run(const ir::Graph& g, const ir::Definition& d, Program& program, std::vector<double>& out) {
  clear(g, d, out);
  Runner(g, d, program, out).run(0);
}

void clear(const ir::Graph& g, const ir::Definition& d, std::vector<double>& out) {
  std::fill(out.begin(), out.end(), neutral_of(g, d));
}

void run_step(const ir::Graph& g, const ir::Definition& d, Program& program,
              std::vector<double>& out, int64_t step) {
  Runner(g, d, program, out).run(step);
}

}  // namespace attn::evaluate
