// Where tensors lie in memory.
#include "runtime/src/layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace attn::testing {
namespace {

using rt::Loan;
using rt::Piece;

Piece piece(int64_t bytes, int32_t first, int32_t last, bool is_lent = false) {
  Piece p;
  p.bytes = bytes;
  p.first = first;
  p.last = last;
  p.is_lent = is_lent;
  return p;
}

int64_t lay_out(std::vector<Piece>& pieces, std::vector<Loan>& loans) {
  std::vector<int32_t> order(pieces.size());
  return rt::lay_out(pieces, loans, order.data());
}

int64_t lay_out(std::vector<Piece>& pieces) {
  std::vector<Loan> none;
  return lay_out(pieces, none);
}

TEST(Layout, PutsWhatIsNotNeededAtOnceInOnePlace) {
  std::vector<Piece> pieces = {piece(1024, 1, 2), piece(1024, 2, 3), piece(1024, 3, 4)};
  EXPECT_EQ(lay_out(pieces), 2048 + 64);
  EXPECT_EQ(pieces[0].offset, 0);
  EXPECT_EQ(pieces[1].offset, 1024);
  EXPECT_EQ(pieces[2].offset, 0);
}

// Two that are small beside each other, where one that was large lay.
TEST(Layout, FillsGaps) {
  std::vector<Piece> pieces = {piece(512, 2, 3), piece(1024, 1, 1), piece(512, 2, 3)};
  EXPECT_EQ(lay_out(pieces), 1024 + 64);
  EXPECT_EQ(pieces[0].offset, 0);
  EXPECT_EQ(pieces[2].offset, 512);
}

TEST(Layout, LeavesOutWhatLiesElsewhere) {
  std::vector<Piece> pieces = {piece(-1, 1, 4), piece(100, 1, 4), piece(0, 1, 4)};
  EXPECT_EQ(lay_out(pieces), 128 + 64);
}

TEST(Layout, TakesOverWhatEnds) {
  std::vector<Piece> pieces = {piece(1024, 1, 2), piece(1024, 2, 3), piece(1024, 3, 4)};
  pieces[1].over = 0;
  pieces[2].over = 1;
  EXPECT_EQ(lay_out(pieces), 1024 + 64);
}

TEST(Layout, TakesOverNothingThatIsNeededLonger) {
  std::vector<Piece> pieces = {piece(1024, 1, 3), piece(1024, 2, 3)};
  pieces[1].over = 0;
  EXPECT_EQ(lay_out(pieces), 2048 + 64);
  pieces = {piece(-1, 1, 2), piece(1024, 2, 3)};
  pieces[1].over = 0;
  EXPECT_EQ(lay_out(pieces), 1024 + 64);
}

TEST(Layout, BorrowsUntilALoanEnds) {
  std::vector<Piece> pieces = {piece(2048, 1, 3, true), piece(2048, 2, 4, true),
                               piece(2048, 1, 3, false)};
  std::vector<Loan> loans = {{7, 4, 4096}};
  EXPECT_EQ(lay_out(pieces, loans), 4096 + 64);
  EXPECT_EQ(pieces[0].loan, 0);
  EXPECT_EQ(pieces[1].loan, -1);
  EXPECT_EQ(pieces[2].loan, -1);
}

TEST(Layout, FillsALoanToItsLastByte) {
  std::vector<Piece> pieces = {piece(2048, 1, 3, true), piece(1020, 1, 3, true)};
  for (const int64_t bytes : {2047, 2048, 3067, 3068}) {
    std::vector<Loan> loans = {{7, 4, bytes}};
    lay_out(pieces, loans);
    EXPECT_EQ(pieces[0].loan, bytes < 2048 ? -1 : 0);
    EXPECT_EQ(pieces[1].loan, bytes == 2048 || bytes == 3067 ? -1 : 0);
  }
}

// The data of a tensor of 2-byte elements may begin where no f32 can.
TEST(Layout, KeepsElementsAligned) {
  std::vector<Piece> pieces = {piece(2048, 1, 3, true)};
  pieces[0].element = 4;
  std::vector<Loan> loans = {{7, 4, 2048, 2}};
  lay_out(pieces, loans);
  EXPECT_EQ(pieces[0].loan, -1);
  loans[0].element = 4;
  lay_out(pieces, loans);
  EXPECT_EQ(pieces[0].loan, 0);
}

// By size, the piece that is there for a moment takes the loan from what is there for longer.
TEST(Layout, TriesTwoOrders) {
  std::vector<Piece> pieces = {piece(1024, 1, 3, true), piece(3072, 2, 6, true),
                               piece(1024, 3, 7, true), piece(3072, 1, 1, true)};
  std::vector<Loan> loans = {{7, 4, 3200}};
  EXPECT_EQ(lay_out(pieces, loans), 4096 + 64);
}

// A tensor of the caller is written over what ends then; nothing else lies in it at that moment.
TEST(Layout, LetsALoanTakeOverWhatLiesInIt) {
  std::vector<Piece> pieces = {piece(2048, 1, 2, true), piece(2048, 2, 4, true), piece(-1, 4, 4),
                               piece(2048, 3, 4, true)};
  pieces[1].over = 0;
  pieces[2].over = 1;
  pieces[2].lender = 7;
  std::vector<Loan> loans = {{7, 4, 2048}};
  EXPECT_EQ(lay_out(pieces, loans), 2048 + 64);
  EXPECT_EQ(pieces[0].loan, 0);
  EXPECT_EQ(pieces[1].loan, 0);
  EXPECT_EQ(pieces[3].loan, -1);
  // Only where it is as large, and ends as that begins.
  pieces[1].last = 5;
  lay_out(pieces, loans);
  EXPECT_EQ(pieces[0].loan, -1);
  pieces[1].last = 4;
  loans = {{7, 4, 4096}};
  lay_out(pieces, loans);
  EXPECT_EQ(pieces[0].loan, -1);
}

TEST(Layout, PrefersTheLoanThatEndsFirst) {
  std::vector<Piece> pieces = {piece(2048, 1, 3, true), piece(2048, 1, 8, true)};
  std::vector<Loan> loans = {{1, 9, 4096}, {2, 5, 4096}};
  EXPECT_EQ(lay_out(pieces, loans), 64);
  EXPECT_EQ(loans[static_cast<size_t>(pieces[0].loan)].tensor, 2);
  EXPECT_EQ(loans[static_cast<size_t>(pieces[1].loan)].tensor, 1);
}

// Of a tensor that a loop from 4 to 9 takes step by step: its first step ends at 5.
Piece turn(int64_t bytes, bool is_lent = false) {
  Piece p = piece(bytes, 1, 5, is_lent);
  p.is_turn = true;
  return p;
}

TEST(Layout, PutsWhatALoopNeedsLaterWhereATurnLay) {
  for (const int32_t start : {0, 5, 6}) {
    std::vector<Piece> pieces = {turn(1024), piece(1024, 4, 9)};
    pieces[1].start = start;
    EXPECT_EQ(lay_out(pieces), (start == 6 ? 1024 : 2048) + 64) << start;
  }
  // Other steps are needed throughout.
  std::vector<Piece> pieces = {piece(1024, 1, 5), piece(1024, 4, 9)};
  pieces[1].start = 6;
  EXPECT_EQ(lay_out(pieces), 2048 + 64);
}

TEST(Layout, LendsWhatALoopWritesLaterToATurn) {
  for (const int32_t start : {0, 5, 6}) {
    std::vector<Piece> pieces = {turn(4096, true), piece(4096, 1, 5, true)};
    std::vector<Loan> loans = {{.tensor = 7, .until = 4, .bytes = 4096, .start = start}};
    EXPECT_EQ(lay_out(pieces, loans), (start == 6 ? 4096 : 8192) + 64) << start;
    EXPECT_EQ(pieces[0].loan, start == 6 ? 0 : -1) << start;
    EXPECT_EQ(pieces[1].loan, -1) << start;
  }
}

// A loop from 4 to 6 writes the loan, from 6 on in each step, and after 1000 in the last step
// alone.
TEST(Layout, LendsWhatTheLastStepOfALoopWrites) {
  for (const int32_t rest : {0, 3, 4, 5, 6}) {
    std::vector<Piece> pieces = {piece(2048, 1, 6, true), piece(512, 1, 3, true),
                                 piece(1024, 5, 6, true)};
    pieces[0].rest = rest;
    std::vector<Loan> loans = {{.tensor = 7, .until = 4, .bytes = 4096, .start = 6, .tail = 1000}};
    const bool lies_there = rest == 4 || rest == 5;
    EXPECT_EQ(lay_out(pieces, loans), 1024 + (lies_there ? 0 : 2048) + 64) << rest;
    EXPECT_EQ(pieces[0].loan, lies_there ? 0 : -1) << rest;
    EXPECT_EQ(pieces[0].is_at_end, lies_there) << rest;
    EXPECT_FALSE(pieces[1].is_at_end);
    if (lies_there) {
      EXPECT_EQ(pieces[0].offset, 1024);
    }
    EXPECT_EQ(pieces[1].loan, 0);
    EXPECT_EQ(pieces[2].loan, -1);
    loans[0].tail = -1;
    lay_out(pieces, loans);
    EXPECT_EQ(pieces[0].loan, -1) << rest;
  }
}

// Only as much as there is after that.
TEST(Layout, FillsTheEndOfALoanToItsLastByte) {
  for (const int64_t tail : {2048, 2049}) {
    std::vector<Piece> pieces = {piece(2048, 1, 3, true), piece(2048, 3, 6, true)};
    pieces[1].over = 0;
    pieces[1].rest = 5;
    std::vector<Loan> loans = {{.tensor = 7, .until = 4, .bytes = 4096, .start = 6, .tail = tail}};
    lay_out(pieces, loans);
    for (const Piece& p : pieces) {
      EXPECT_EQ(p.loan, tail == 2048 ? 0 : -1) << tail;
      EXPECT_EQ(p.is_at_end, tail == 2048) << tail;
    }
  }
}

TEST(Layout, OfMoreThanThereIsDoesNotOverflow) {
  std::vector<Piece> pieces = {piece(INT64_MAX, 1, 3), piece(INT64_MAX, 1, 3), piece(1024, 1, 3)};
  EXPECT_GT(lay_out(pieces), INT64_MAX / 2);
}

bool overlap(int64_t a, int64_t a_bytes, int64_t b, int64_t b_bytes) {
  return a < b + b_bytes && b < a + a_bytes;
}

TEST(Layout, OfManyKeepsAllApart) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](int n) {
      return static_cast<int32_t>(random() % static_cast<unsigned>(n));
    };
    std::vector<Piece> pieces;
    std::vector<Loan> loans;
    for (int n = 1 + below(40); n > 0; --n) {
      const int32_t first = below(30);
      pieces.push_back(piece(below(8) == 0 ? -1 : 1 + (below(2) > 0 ? 700 : 1000) * below(9), first,
                             first + below(6), below(3) > 0));
      const int32_t over = below(static_cast<int>(pieces.size()));
      const auto takes = [&](const Piece& p) { return p.over == over; };
      if (pieces[static_cast<size_t>(over)].last == first &&
          std::none_of(pieces.begin(), pieces.end(), takes) &&
          static_cast<size_t>(over) + 1 < pieces.size())
        pieces.back().over = over;
    }
    for (int n = below(5); n > 0; --n) loans.push_back({n, below(30), 1000 * below(9)});
    const int64_t bytes = lay_out(pieces, loans);
    for (size_t a = 0; a < pieces.size(); ++a) {
      const Piece& p = pieces[a];
      if (p.bytes < 0) continue;
      EXPECT_EQ(p.offset % 128, 0);
      if (p.loan < 0) {
        EXPECT_LE(p.offset + p.bytes, bytes) << seed;
      } else {
        const Loan& loan = loans[static_cast<size_t>(p.loan)];
        EXPECT_TRUE(p.is_lent) << seed;
        EXPECT_LT(p.last, loan.until) << seed;
        EXPECT_LE(p.offset + p.bytes, loan.bytes) << seed;
      }
      for (size_t b = 0; b < a; ++b) {
        const Piece& q = pieces[b];
        if (q.bytes < 0 || q.loan != p.loan || p.last < q.first || q.last < p.first) continue;
        const bool takes_over = (p.over == static_cast<int>(b) && q.last == p.first) ||
                                (q.over == static_cast<int>(a) && p.last == q.first);
        const bool is_same = p.offset == q.offset && p.bytes == q.bytes;
        EXPECT_TRUE((takes_over && is_same) || !overlap(p.offset, p.bytes, q.offset, q.bytes))
            << seed << ": " << a << ", " << b;
      }
    }
  }
}

}  // namespace
}  // namespace attn::testing
