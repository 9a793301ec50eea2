#include "compiler/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>
#include <utility>

#include "compiler/base/check.h"

namespace attn {

Span cover(Span a, Span b) {
  if (!a.valid()) return b;
  if (!b.valid()) return a;
  ATTN_CHECK(a.file == b.file, "spans of two files cannot be joined");
  return {a.file, std::min(a.begin, b.begin), std::max(a.end, b.end)};
}

int32_t SourceMap::add(std::string path, std::string text) {
  // A line ends with LF, CR LF or CR alone, on every system.
  std::vector<uint32_t> starts = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    const bool cr_of_pair = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (text[i] == '\n' || (text[i] == '\r' && !cr_of_pair)) {
      starts.push_back(static_cast<uint32_t>(i + 1));
    }
  }
  files_.push_back({std::move(path), std::move(text)});
  line_starts_.push_back(std::move(starts));
  return size() - 1;
}

SourceMap::Position SourceMap::position(int32_t file, uint32_t offset) const {
  const std::vector<uint32_t>& starts = line_starts_.at(file);
  const auto line = std::upper_bound(starts.begin(), starts.end(), offset) - starts.begin();
  return {static_cast<int>(line), static_cast<int>(offset - starts[line - 1]) + 1};
}

std::string_view SourceMap::line(int32_t file, int number) const {
  const std::vector<uint32_t>& starts = line_starts_.at(file);
  const std::string_view text = files_[file].text;
  ATTN_CHECK(number >= 1 && number <= static_cast<int>(starts.size()), "no such line");
  const size_t begin = starts[number - 1];
  size_t end = number < static_cast<int>(starts.size()) ? starts[number] : text.size();
  while (end > begin && (text[end - 1] == '\n' || text[end - 1] == '\r')) --end;
  return text.substr(begin, end - begin);
}

std::string_view SourceMap::text(Span span) const {
  if (!span.valid()) return {};
  const std::string_view all = file(span.file).text;
  ATTN_CHECK(span.begin <= span.end && span.end <= all.size(), "a span leaves its file");
  return all.substr(span.begin, span.end - span.begin);
}

Diagnostic& Diagnostics::error(Span where, std::string message) {
  ++errors_;
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.primary.where = where;
  return all_.emplace_back(std::move(diagnostic));
}

Diagnostic& Diagnostics::warning(Span where, std::string category, std::string message) {
  Diagnostic diagnostic;
  diagnostic.severity = Severity::warning;
  diagnostic.category = std::move(category);
  diagnostic.message = std::move(message);
  diagnostic.primary.where = where;
  return all_.emplace_back(std::move(diagnostic));
}

Diagnostic& Diagnostics::limit(Span where, std::string message) {
  exceeded_limit_ = true;
  return error(where, std::move(message));
}

void Diagnostics::add(const Diagnostics& more) {
  all_.insert(all_.end(), more.all_.begin(), more.all_.end());
  errors_ += more.errors_;
  exceeded_limit_ = exceeded_limit_ || more.exceeded_limit_;
}

void Diagnostics::fold_warnings() {
  // What it says without the names in it.
  const auto sense = [](const Diagnostic& d) {
    std::string text;
    bool quoted = false;
    for (const char c : d.message) {
      if (c == '`') quoted = !quoted;
      if (!quoted) text += c;
    }
    return std::make_tuple(d.primary.where.file, d.primary.where.begin, d.primary.where.end,
                           d.category, std::move(text));
  };
  std::map<decltype(sense(all_[0])), size_t> first;  // its place in `kept`
  std::vector<Diagnostic> kept;
  std::vector<int> more;
  for (Diagnostic& d : all_) {
    if (d.severity == Severity::warning && d.primary.where.valid()) {
      const auto [it, fresh] = first.try_emplace(sense(d), kept.size());
      if (!fresh) {
        ++more[it->second];
        continue;
      }
    }
    kept.push_back(std::move(d));
    more.push_back(0);
  }
  for (size_t k = 0; k < kept.size(); ++k)
    if (more[k] > 0) kept[k].message += fmt::format(" ({} more like it)", more[k]);
  all_ = std::move(kept);
}

void Diagnostics::sort_from(size_t first) {
  const auto key = [](const Diagnostic& diagnostic) {
    return std::make_pair(diagnostic.primary.where.file, diagnostic.primary.where.begin);
  };
  std::stable_sort(all_.begin() + static_cast<std::ptrdiff_t>(first), all_.end(),
                   [&](const Diagnostic& a, const Diagnostic& b) { return key(a) < key(b); });
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  // Optimal string alignment: Levenshtein's distance with swaps of neighbours. Three rows suffice.
  const auto distance = [](std::string_view a, std::string_view b) {
    std::vector<size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) previous[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
      current[0] = i;
      for (size_t j = 1; j <= b.size(); ++j) {
        current[j] = std::min({previous[j] + 1, current[j - 1] + 1,
                               previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
        if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
          current[j] = std::min(current[j], before[j - 2] + 1);
        }
      }
      std::swap(before, previous);
      std::swap(previous, current);
    }
    return previous[b.size()];
  };
  // Two-letter words may be one off, one-letter words must match: otherwise anything is near.
  const size_t allowed = word.size() < 2 ? 0 : std::max<size_t>(1, word.size() / 3);
  size_t best = allowed + 1;
  std::string found;
  // `D` for `d`, however short.
  const auto in_lower_case = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) ==
           std::tolower(static_cast<unsigned char>(b));
  };
  for (const std::string& candidate : candidates) {
    if (std::equal(word.begin(), word.end(), candidate.begin(), candidate.end(), in_lower_case))
      return candidate;
  }
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(candidate.size(), word.size());
    const size_t shorter = std::min(candidate.size(), word.size());
    if (candidate.empty() || longer - shorter > allowed) continue;
    const size_t d = distance(word, candidate);
    if (d < best) {
      best = d;
      found = candidate;
    }
  }
  return found;
}

}  // namespace attn
