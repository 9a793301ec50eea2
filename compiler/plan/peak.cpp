#include "compiler/plan/peak.h"

#include <algorithm>
#include <cmath>

namespace attn::plan {
namespace {

// The weight of the logarithm of the peak of what is neither an argument nor kept, beside those of
// the peaks of all at each scale.
constexpr double kAlone = 0.1;
constexpr double kLeastGain = 1e-6;
// The part of a result's memory that holds nothing before the result is written, since larger
// tensors do not fit. Of orders that need as much, the one that writes small results first needs
// less then. By the published models: at 0.01 Swin gains nothing, at 0.1 BERT and Switch lose.
constexpr double kUnlent = 0.03;
// Of orders that are looked at, times their kernels: some tenths of a second.
constexpr double kMostWork = 4e7;

constexpr size_t kMeasures = kScales.size() + 1;  // by scale; at the last of them, alone

class Peaks {
 public:
  Peaks(const std::vector<Access>& kernels, const std::vector<Stored>& tensors)
      : kernels_(kernels), tensors_(tensors), before_(kernels.size()), after_(kernels.size()) {
    std::vector<std::ptrdiff_t> writer(tensors.size(), -1);
    for (size_t n = 0; n < kernels.size(); ++n)
      for (size_t t : kernels[n].writes) writer[t] = static_cast<std::ptrdiff_t>(n);
    for (size_t n = 0; n < kernels.size(); ++n)
      for (size_t t : kernels[n].reads)
        if (writer[t] >= 0) {
          before_[n].push_back(static_cast<size_t>(writer[t]));
          after_[static_cast<size_t>(writer[t])].push_back(n);
        }
  }

  void lower(std::vector<size_t>& order) {
    double least = measure(order);
    for (double work = 0; work < kMostWork;) {
      std::vector<size_t> best;
      for (const auto& [from, to] : moves(order)) {
        std::vector<size_t> other = order;
        move(other, from, to);
        const double cost = measure(other);
        work += static_cast<double>(order.size());
        if (cost > least - kLeastGain) continue;
        least = cost;
        best = std::move(other);
      }
      if (best.empty()) return;
      order = std::move(best);
    }
  }

 private:
  using Move = std::pair<size_t, size_t>;

  static void move(std::vector<size_t>& order, size_t from, size_t to) {
    const auto at = [&](size_t k) { return order.begin() + static_cast<std::ptrdiff_t>(k); };
    if (from < to)
      std::rotate(at(from), at(from + 1), at(to + 1));
    else
      std::rotate(at(to), at(from), at(from + 1));
  }

  // Of kernels that could run at the other side of a peak: just there, and as far as they can.
  std::vector<Move> moves(const std::vector<size_t>& order) {
    measure(order);
    const std::array<size_t, kMeasures> peaks = at_;
    std::vector<size_t> place(order.size());
    for (size_t k = 0; k < order.size(); ++k) place[order[k]] = k;
    std::vector<Move> result;
    for (size_t k = 0; k < order.size(); ++k) {
      size_t first = 0, last = order.size() - 1;
      for (size_t n : before_[order[k]]) first = std::max(first, place[n] + 1);
      for (size_t n : after_[order[k]]) last = std::min(last, place[n] - 1);
      for (size_t peak : peaks) {
        if (k <= peak && k < last) {
          result.emplace_back(k, last);
          result.emplace_back(k, std::max(k, std::min(peak, last)));
        }
        if (peak <= k && first < k) {
          result.emplace_back(k, first);
          result.emplace_back(k, std::min(k, std::max(peak, first)));
        }
      }
    }
    std::erase_if(result, [](const Move& m) { return m.first == m.second; });
    std::ranges::sort(result);
    result.erase(std::ranges::unique(result).begin(), result.end());
    return result;
  }

  // The sum of the logarithms of all peaks, whose moments are then in at_.
  double measure(const std::vector<size_t>& order) {
    const size_t none = order.size();
    first_.assign(tensors_.size(), none);
    last_.assign(tensors_.size(), none);
    taken_.assign(tensors_.size(), false);
    for (size_t k = 0; k < order.size(); ++k) {
      for (size_t t : kernels_[order[k]].reads) last_[t] = k;
      for (size_t t : kernels_[order[k]].writes) first_[t] = k;
    }
    // One tensor that a kernel writes lies where one ends that it reads.
    for (size_t k = 0; k < order.size(); ++k)
      for (size_t t : kernels_[order[k]].over)
        if (last_[t] == k && !tensors_[t].is_kept) {
          taken_[kernels_[order[k]].writes[0]] = true;
          break;
        }
    for (auto& change : change_) change.assign(order.size() + 1, 0);
    for (size_t t = 0; t < tensors_.size(); ++t) count(t, order.size());
    halve(order);
    double sum = 0;
    for (size_t m = 0; m < kMeasures; ++m) {
      double now = 0, most = 1;
      for (size_t k = 0; k < order.size(); ++k) {
        now += change_[m][k];
        if (now <= most) continue;
        most = now;
        at_[m] = k;
      }
      sum += (m < kScales.size() ? 1 : kAlone) * std::log(most);
    }
    return sum;
  }

  // Adds what a tensor changes, before each kernel.
  void count(size_t t, size_t end) {
    const Stored& tensor = tensors_[t];
    if (first_[t] == end && last_[t] == end) return;
    const size_t first = tensor.is_argument ? 0 : first_[t] + (taken_[t] ? 1 : 0);
    const size_t last = tensor.is_kept ? end : last_[t] == end ? first_[t] + 1 : last_[t] + 1;
    const bool is_alone = !tensor.is_argument && !tensor.is_kept;
    for (size_t m = 0; m < (is_alone ? kMeasures : kScales.size()); ++m) {
      const double bytes = tensor.bytes[std::min(m, kScales.size() - 1)];
      change_[m][first] += bytes;
      change_[m][last] -= bytes;
      if (!tensor.is_kept || tensor.is_argument) continue;
      change_[m][0] += kUnlent * bytes;
      change_[m][first] -= kUnlent * bytes;
    }
  }

  // Of what the last of the kernels that sum groups reads for the last time.
  void halve(const std::vector<size_t>& order) {
    for (size_t k = order.size(); k-- > 0;) {
      const Access& kernel = kernels_[order[k]];
      if (!kernel.sums_groups) continue;
      for (size_t t : kernel.halved) {
        if (last_[t] != k) continue;
        for (size_t m = 0; m < kMeasures; ++m) {
          const double bytes = tensors_[t].bytes[std::min(m, kScales.size() - 1)];
          change_[m][k] -= bytes / 2;
          change_[m][k + 1] += bytes / 2;
        }
      }
      return;
    }
  }

  const std::vector<Access>& kernels_;
  const std::vector<Stored>& tensors_;
  std::vector<std::vector<size_t>> before_, after_;  // kernels that each must run after, and before
  // Of the order that was measured last.
  std::vector<size_t> first_, last_;  // where each tensor is written, and last read
  std::vector<bool> taken_;           // whether it takes the memory of another
  std::array<std::vector<double>, kMeasures> change_;
  std::array<size_t, kMeasures> at_{};
};

}  // namespace

void lower_peak(const std::vector<Access>& kernels, const std::vector<Stored>& tensors,
                std::vector<size_t>& order) {
  Peaks(kernels, tensors).lower(order);
}

}  // namespace attn::plan
