// The processes of an MPI program, and arrays that travel between them. A call that fails ends all
// processes with its text: none waits for one that is gone.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <attn/tensor.hpp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace example {

class Processes {
 public:
  Processes(int* argument_count, char*** arguments) {
    int level = 0;
    // One thread calls MPI; those of an attn::Context do not.
    must(MPI_Init_thread(argument_count, arguments, MPI_THREAD_FUNNELED, &level));
    must(level >= MPI_THREAD_FUNNELED, "this MPI allows no threads");
    must(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    must(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    must(MPI_Comm_size(MPI_COMM_WORLD, &count_));
  }
  ~Processes() { MPI_Finalize(); }
  Processes(const Processes&) = delete;
  Processes& operator=(const Processes&) = delete;

  int rank() const { return rank_; }
  int count() const { return count_; }
  bool first() const { return rank_ == 0; }

  void must(bool good, const std::string& complaint) const {
    if (good) return;
    std::fprintf(stderr, "process %d of %d: %s\n", rank_, count_, complaint.c_str());
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();  // MPI_Abort does not return
  }
  void must(const attn::Status& status) const { must(static_cast<bool>(status), status.text()); }
  void must(int mpi_code) const {
    if (mpi_code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    MPI_Error_string(mpi_code, text, &length);
    must(false, text);
  }

  // The entries from `begin` to before `end` of `all` are this process's part of them.
  struct Part {
    int64_t begin, end;
    int64_t size() const { return end - begin; }
  };
  Part part_of(int64_t all) const {
    return {all * rank_ / count_, all * (rank_ + int64_t{1}) / count_};
  }

  // Everywhere the elements that the first process has.
  void broadcast(const attn::Tensor& tensor) const {
    for_pieces(
        tensor, [&](char* data, int n) { must(MPI_Bcast(data, n, MPI_BYTE, 0, MPI_COMM_WORLD)); },
        1);
  }

  // Begins to replace a tensor of f32 or f64 by its sum over all processes, in each of them. Sums
  // that were started run beside each other until wait() returns.
  void start_sum(const attn::Tensor& tensor) {
    const bool single = tensor.type() == ATTN_F32;
    must(single || tensor.type() == ATTN_F64, "sums are of f32 or f64");
    for_pieces(
        tensor,
        [&](char* data, int n) {
          requests_.emplace_back();
          must(MPI_Iallreduce(MPI_IN_PLACE, data, n, single ? MPI_FLOAT : MPI_DOUBLE, MPI_SUM,
                              MPI_COMM_WORLD, &requests_.back()));
        },
        single ? 4 : 8);
  }
  void wait() {
    must(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }

  // Replaces a few numbers by their sums over all processes.
  void sum(std::vector<double>& numbers) const {
    must(MPI_Allreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), MPI_DOUBLE,
                       MPI_SUM, MPI_COMM_WORLD));
  }
  // Ends all processes where they do not have the same number.
  void must_agree(uint64_t number, const std::string& complaint) const {
    uint64_t least = 0, most = 0;
    must(MPI_Allreduce(&number, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    must(MPI_Allreduce(&number, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
    must(least == most, complaint);
  }

 private:
  // MPI counts elements by `int`: a large tensor goes in pieces.
  template <class Call>
  static void for_pieces(const attn::Tensor& tensor, const Call& call, int64_t element) {
    constexpr int64_t kMost = int64_t{1} << 30;
    char* data = static_cast<char*>(tensor.view().data);
    for (int64_t at = 0, all = tensor.bytes() / element; at < all; at += kMost)
      call(data + at * element, static_cast<int>(std::min(kMost, all - at)));
  }

  int rank_ = 0, count_ = 1;
  std::vector<MPI_Request> requests_;
};

// A number that depends on every byte of an array (FNV-1a, 64 bits).
inline uint64_t hash(const attn::Tensor& tensor, uint64_t before = 0xcbf29ce484222325u) {
  const unsigned char* bytes = static_cast<const unsigned char*>(tensor.view().data);
  for (int64_t k = 0; k < tensor.bytes(); ++k) before = (before ^ bytes[k]) * 0x100000001b3u;
  return before;
}

}  // namespace example
