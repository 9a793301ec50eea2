// Checkpoints of several files: an index, a JSON object whose `weight_map` says for each tensor
// which file beside the index has it. The tensors are those that the map names.
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <algorithm>

#include "scanner.h"
#include "weights.h"

namespace attn::rt {
namespace {

constexpr int64_t kMaxIndex = 100'000'000;
constexpr int32_t kMaxParts = 65535;

// The folder of a path, with its slash, and a name in it.
char* beside(attn_context* context, const char* path, size_t folder, Text name) {
  char* result = static_cast<char*>(exact_allocate(context, folder + name.length + 1));
  if (result == nullptr) return nullptr;
  memcpy(result, path, folder);
  memcpy(result + folder, name.begin, name.length);
  result[folder + name.length] = '\0';
  return result;
}

struct Index {
  attn_context* context;
  attn_weights* weights;
  JsonScanner json;
  bool fills;  // the second time: names are decoded, files opened
  attn_status status = ATTN_OK;

  attn_status complain(const char* wrong) {
    return bad_file(context, weights->source, "byte %lld: %s", shown(json.offset()), wrong);
  }
  bool stop(attn_status with) {
    status = with;
    return with == ATTN_OK;
  }
  bool pair();
  attn_status tensor(Text name, Text file);
  attn_status find_part(Text file, uint16_t* part);
  attn_status read();
};

// One `"name": "file"` of the map.
bool Index::pair() {
  Text name, file;
  if (!json.string(&name)) return false;
  if (!json.take(':')) return json.fail("':' is expected");
  if (!json.string(&file)) return false;
  if (weights->count == kMaxTensors) return json.fail("there are more than 1,000,000 tensors");
  if (fills && !stop(tensor(name, file))) return false;
  ++weights->count;
  return true;
}

attn_status Index::tensor(Text name, Text file) {
  name.length = decode_escapes(name);
  name.begin[name.length] = '\0';
  file.length = decode_escapes(file);
  file.begin[file.length] = '\0';
  Entry& entry = weights->entries[weights->count];
  uint16_t part = 0;
  ATTN_TRY(find_part(file, &part));
  const int32_t found = attn_weights_find(weights->parts[part], name.begin);
  if (found < 0 || strlen(name.begin) != name.length) {
    return bad_file(context, weights->source, "tensor %s is not in %s",
                    Quoted(name.begin, name.length).text(), Quoted(file.begin).text());
  }
  entry = weights->parts[part]->entries[found];
  entry.part = part;
  return ATTN_OK;
}

// Files stand beside the index, and most tensors are in the file of the tensor before.
attn_status Index::find_part(Text file, uint16_t* part) {
  const char* path = weights->source.label;
  const char* slash = strrchr(path, '/');
  const size_t folder = slash != nullptr ? static_cast<size_t>(slash - path) + 1 : 0;
  for (int32_t k = weights->n_parts - 1; k >= 0; --k) {
    *part = static_cast<uint16_t>(k);
    if (file.is(weights->parts[k]->path + folder)) return ATTN_OK;
  }
  const char* wrong = name_complaint(file.begin, file.length);
  if (wrong == nullptr && memchr(file.begin, '/', file.length) != nullptr)
    wrong = "it is not beside the index";
  if (wrong == nullptr && weights->n_parts == kMaxParts) wrong = "there are too many files";
  if (wrong != nullptr) {
    return bad_file(context, weights->source, "file %s: %s", Quoted(file.begin, file.length).text(),
                    wrong);
  }
  char* path_of_part = beside(context, path, folder, file);
  if (path_of_part == nullptr) return out_of_memory(context);
  attn_weights* opened;
  ATTN_TRY(open_file(context, path_of_part, &opened));
  *part = static_cast<uint16_t>(weights->n_parts);
  weights->parts[weights->n_parts++] = opened;
  return ATTN_OK;
}

attn_status Index::read() {
  weights->count = 0;
  bool map_seen = false;
  const auto item = [&] {
    Text key;
    if (!json.string(&key)) return false;
    if (!json.take(':')) return json.fail("':' is expected");
    if (!key.is("weight_map")) return json.skip();
    if (map_seen) return json.fail("weight_map is given twice");
    map_seen = true;
    if (!json.take('{')) return json.fail("weight_map is no object");
    return json.items('}', "',' or '}' is expected", [&] { return pair(); });
  };
  if (!json.take('{')) return complain("the index is no object");
  if (!json.items('}', "',' or '}' is expected", item))
    return status != ATTN_OK ? status : complain(json.wrong());
  if (!json.at_end()) return complain("the index goes on after its object");
  return map_seen ? ATTN_OK : complain("weight_map is missing");
}

bool is_there(const char* path) {
  struct stat facts;
  return stat(path, &facts) == 0;
}

}  // namespace

attn_status find_weights(attn_context* context, const char* path, char** owned) {
  static constexpr char kIndex[] = "model.safetensors.index.json", kFile[] = "model.safetensors";
  struct stat facts;
  if (path == nullptr || stat(path, &facts) != 0 || !S_ISDIR(facts.st_mode)) return ATTN_OK;
  const size_t room = strlen(path) + 1 + sizeof kIndex;
  *owned = static_cast<char*>(exact_allocate(context, room));
  if (*owned == nullptr) return out_of_memory(context);
  for (const char* name : {kIndex, kFile}) {
    snprintf(*owned, room, "%s/%s", path, name);
    if (is_there(*owned)) return ATTN_OK;
  }
  return attn_fail(context, ATTN_BAD_FILE, "%s: has neither %s nor %s", path, kIndex, kFile);
}

bool is_index(const char* path) {
  const size_t length = strlen(path);
  return length > 5 && strcmp(path + length - 5, ".json") == 0;
}

attn_status read_index(attn_context* context, attn_weights* weights) {
  const Source& source = weights->source;
  if (source.size > kMaxIndex) return bad_file(context, source, "the index exceeds 100 MB");
  weights->header_bytes = source.size;
  weights->header = static_cast<char*>(exact_allocate(context, static_cast<size_t>(source.size)));
  if (weights->header == nullptr) return out_of_memory(context);
  ATTN_TRY(read_at(context, source, 0, weights->header, source.size));
  if (!valid_utf8(weights->header, source.size))
    return bad_file(context, source, "the index is not UTF-8");
  char* end = weights->header + source.size;
  ATTN_TRY((Index{context, weights, {weights->header, end}, false}.read()));
  const size_t count = static_cast<size_t>(weights->count);
  weights->entries = static_cast<Entry*>(exact_allocate(context, count * sizeof(Entry)));
  weights->parts = static_cast<attn_weights**>(exact_allocate(
      context, std::min(count, static_cast<size_t>(kMaxParts)) * sizeof(attn_weights*)));
  if (weights->entries == nullptr || weights->parts == nullptr) return out_of_memory(context);
  ATTN_TRY((Index{context, weights, {weights->header, end}, true}.read()));
  return sort_entries(context, weights);
}

}  // namespace attn::rt
