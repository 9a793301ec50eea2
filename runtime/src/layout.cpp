#include "layout.h"

#include <algorithm>
#include <limits>

namespace attn::rt {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeastLoan = 1024;  // bytes; what is smaller saves nothing

class Layout {
 public:
  explicit Layout(std::span<Piece> pieces) : pieces_(pieces) {}

  // The pieces that take nobody's memory; their number.
  int32_t find_first_owners(int32_t* order) {
    for (Piece& piece : pieces_) piece.after = piece.above = -1;
    int32_t count = 0;
    for (size_t k = 0; k < pieces_.size(); ++k) {
      if (pieces_[k].bytes < 0) continue;
      if (takes_over(pieces_[k]))
        at(pieces_[k].over).after = static_cast<int32_t>(k);
      else
        order[count++] = static_cast<int32_t>(k);
    }
    for (int32_t k = 0; k < count; ++k) {
      Piece& piece = at(order[k]);
      piece.end = piece.last;
      for (int32_t n = piece.after; n >= 0; n = at(n).after) piece.end = at(n).last;
    }
    return count;
  }

  // Puts a piece to the lowest free place of a memory of so many bytes. `lowest`: of its pieces.
  bool put(int32_t k, int32_t* lowest, int64_t bytes) {
    Piece& piece = at(k);
    int64_t offset = 0;
    for (int32_t n = *lowest; n >= 0; n = at(n).above) {
      const Piece& other = at(n);
      if (other.end < piece.first || piece.end < other.first) continue;
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
      at(n).offset = at(k).offset;
    }
  }

  Piece& at(int32_t k) { return pieces_[static_cast<size_t>(k)]; }

 private:
  bool takes_over(const Piece& piece) const {
    if (piece.over < 0) return false;
    const Piece& other = pieces_[static_cast<size_t>(piece.over)];
    return other.bytes == piece.bytes && other.last == piece.first &&
           piece.is_lent == other.is_lent;
  }

  std::span<Piece> pieces_;
};

}  // namespace

int64_t aligned_end(int64_t at, int64_t bytes) {
  int64_t end;
  if (__builtin_add_overflow(at, bytes, &end) || end > kMost - 255)
    return (kMost - 255) / 128 * 128;
  return (end + 127) / 128 * 128;
}

int64_t lay_out(std::span<Piece> pieces, std::span<Loan> loans, int32_t* order) {
  Layout layout(pieces);
  const int32_t count = layout.find_first_owners(order);
  std::sort(order, order + count, [&](int32_t a, int32_t b) {
    const int64_t x = layout.at(a).bytes, y = layout.at(b).bytes;
    return x != y ? x > y : a < b;
  });
  std::sort(loans.begin(), loans.end(), [](const Loan& a, const Loan& b) {
    return a.until != b.until ? a.until < b.until : a.tensor < b.tensor;
  });
  int32_t lowest = -1;  // of the workspace
  int64_t end = 0;
  for (int32_t n = 0; n < count; ++n) {
    Piece& piece = layout.at(order[n]);
    piece.loan = -1;
    for (size_t k = 0; piece.is_lent && piece.loan < 0 && k < loans.size(); ++k) {
      Loan& loan = loans[k];
      // Up to 127 bytes may be lost at its beginning.
      if (piece.end < loan.until && loan.bytes >= kLeastLoan &&
          layout.put(order[n], &loan.lowest, loan.bytes - 127))
        piece.loan = static_cast<int32_t>(k);
    }
    if (piece.loan < 0) {
      const bool fits = layout.put(order[n], &lowest, kMost);
      end = std::max(end, aligned_end(fits ? piece.offset : kMost, piece.bytes));
    }
    layout.follow(order[n]);
  }
  return end + 64;
}

}  // namespace attn::rt
