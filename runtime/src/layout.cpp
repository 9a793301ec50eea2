#include "layout.h"

#include <algorithm>
#include <limits>

namespace attn::rt {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastLoan = 1024;  // bytes; what is smaller saves nothing

// Which pieces are placed first.
enum class Largest { bytes, bytes_and_time };

class Layout {
 public:
  Layout(std::span<Piece> pieces, std::span<Loan> loans, int32_t* order)
      : pieces_(pieces), loans_(loans), order_(order), count_(find_first_owners(order)) {}

  // The bytes of the workspace.
  int64_t run(Largest largest) {
    sort(largest);
    for (Loan& loan : loans_) loan.lowest = -1;
    lowest_ = -1;
    end_ = 0;
    for (int32_t n = 0; n < count_; ++n) {
      const int32_t k = order_[n];
      at(k).loan = find_loan(k);
      if (at(k).loan < 0) {
        const bool fits = put(k, &lowest_, 0, kMost);
        end_ = std::max(end_, aligned_end(fits ? at(k).offset : kMost, at(k).bytes));
      }
      follow(k);
    }
    return end();
  }

  int64_t end() const { return end_ + 64; }

 private:
  // The pieces that take nobody's memory; their number.
  int32_t find_first_owners(int32_t* order) {
    for (Piece& piece : pieces_) piece.after = piece.above = piece.heir = -1;
    int32_t count = 0;
    for (size_t k = 0; k < pieces_.size(); ++k) {
      if (pieces_[k].bytes < 0) {
        if (pieces_[k].over >= 0) at(pieces_[k].over).heir = pieces_[k].lender;
        continue;
      }
      if (takes_over(pieces_[k]))
        at(pieces_[k].over).after = static_cast<int32_t>(k);
      else
        order[count++] = static_cast<int32_t>(k);
    }
    for (int32_t k = 0; k < count; ++k) {
      Piece& piece = at(order[k]);
      piece.end = piece.last;
      for (int32_t n = piece.after; n >= 0; n = at(n).after) {
        piece.end = at(n).last;
        piece.rest = at(n).rest;
        piece.heir = at(n).heir;
      }
    }
    return count;
  }

  void sort(Largest largest) {
    // In floating point: bytes and time together may be more than 64 bits hold.
    const auto size = [&](int32_t k) {
      const double bytes = static_cast<double>(at(k).bytes);
      return largest == Largest::bytes ? bytes : bytes * (at(k).end - at(k).first + 1);
    };
    std::sort(order_, order_ + count_, [&](int32_t a, int32_t b) {
      const double x = size(a), y = size(b);
      return x != y ? x > y : a < b;
    });
  }

  // The first loan that has room for a piece, which it is then in; -1: none.
  int32_t find_loan(int32_t k) {
    const Piece& piece = at(k);
    at(k).is_at_end = false;
    for (size_t n = 0; piece.is_lent && n < loans_.size(); ++n) {
      Loan& loan = loans_[n];
      const bool is_heir = piece.heir == loan.tensor && piece.bytes == loan.bytes;
      const int32_t until = piece.is_turn ? std::max(loan.until, loan.start) : loan.until;
      const bool is_free = piece.end < until || (is_heir && piece.end == loan.until);
      const bool has_tail = loan.tail >= 0 && loan.until <= piece.rest && piece.rest < loan.start;
      if ((is_free || has_tail) && piece.element <= loan.element && loan.bytes >= kLeastLoan &&
          put(k, &loan.lowest, is_free ? 0 : loan.tail, loan.bytes)) {
        at(k).is_at_end = !is_free;
        return static_cast<int32_t>(n);
      }
    }
    return -1;
  }

  // Whether two are needed at one moment. A turn ends in the first step of a loop, in which what
  // the loop needs from a later kernel on is not there yet.
  static bool meet(const Piece& a, const Piece& b) {
    const auto first = [](const Piece& piece, const Piece& beside) {
      return beside.is_turn ? std::max(piece.first, piece.start) : piece.first;
    };
    return first(b, a) <= a.end && first(a, b) <= b.end;
  }

  // Puts a piece to the lowest free place of a memory of so many bytes, `from` there on. `lowest`:
  // of its pieces.
  bool put(int32_t k, int32_t* lowest, int64_t from, int64_t bytes) {
    Piece& piece = at(k);
    int64_t offset = aligned_end(0, from);
    for (int32_t n = *lowest; n >= 0; n = at(n).above) {
      const Piece& other = at(n);
      if (!meet(piece, other)) continue;
      if (other.offset - offset >= piece.bytes) break;
      offset = std::max(offset, aligned_end(other.offset, other.bytes));
    }
    if (bytes - offset < piece.bytes) return false;
    int32_t* next = lowest;
    while (*next >= 0 && at(*next).offset < offset) next = &at(*next).above;
    piece.offset = offset;
    piece.above = *next;
    *next = k;
    return true;
  }

  // What takes the memory of `k` lies where that lies.
  void follow(int32_t k) {
    for (int32_t n = at(k).after; n >= 0; n = at(n).after) {
      at(n).loan = at(k).loan;
      at(n).is_at_end = at(k).is_at_end;
      at(n).offset = at(k).offset;
    }
  }

  Piece& at(int32_t k) { return pieces_[static_cast<size_t>(k)]; }

  bool takes_over(const Piece& piece) const {
    if (piece.over < 0) return false;
    const Piece& other = pieces_[static_cast<size_t>(piece.over)];
    return other.bytes == piece.bytes && other.last == piece.first &&
           piece.is_lent == other.is_lent;
  }

  const std::span<Piece> pieces_;
  const std::span<Loan> loans_;
  int32_t* const order_;  // of the pieces that take nobody's memory
  const int32_t count_;   // of those
  int32_t lowest_ = -1;   // of the workspace
  int64_t end_ = 0;
};

}  // namespace

int64_t aligned_end(int64_t at, int64_t bytes) {
  int64_t end;
  if (__builtin_add_overflow(at, bytes, &end) || end > kMost - 255)
    return (kMost - 255) / 128 * 128;
  return (end + 127) / 128 * 128;
}

int64_t lay_out(std::span<Piece> pieces, std::span<Loan> loans, int32_t* order) {
  std::sort(loans.begin(), loans.end(), [](const Loan& a, const Loan& b) {
    return a.until != b.until ? a.until < b.until : a.tensor < b.tensor;
  });
  Layout layout(pieces, loans, order);
  const int64_t by_size = layout.run(Largest::bytes);
  if (loans.empty() || layout.run(Largest::bytes_and_time) < by_size) return layout.end();
  return layout.run(Largest::bytes);
}

}  // namespace attn::rt
