// Compiled objects, kept from build to build under a hash of all that they depend on.
#pragma once

#include <string>
#include <utility>

namespace attn::driver {

// A folder of the user: $ATTNC_CACHE_DIR, else attnc in $XDG_CACHE_HOME or ~/.cache. One that
// belongs to somebody else, or that others may write to, is not used: what lies there becomes code.
// An entry begins with a hash of the rest, and one that does not fit it counts as absent.
class Cache {
 public:
  // Not `wanted`: there is none. Refuses an $ATTNC_CACHE_MAX that is no number.
  explicit Cache(bool wanted);

  // Why a cache that was wanted is not there, or keeps nothing more: the first time it is asked.
  std::string take_complaint() { return std::exchange(complaint_, {}); }

  // Copies the object that depends on `description` to a new file; false where there is none.
  bool take(const std::string& description, const std::string& path) const;
  // Keeps the object at `path`. A cache that cannot be written is only slow: it complains.
  void keep(const std::string& description, const std::string& path);
  // Removes the entries that were used least recently, while all take more than $ATTNC_CACHE_MAX
  // megabytes (2048).
  void trim() const;

 private:
  std::string entry(const std::string& description) const;

  std::string folder_;  // empty: none
  std::string complaint_;
  bool has_failed_ = false;  // to keep something
};

}  // namespace attn::driver
