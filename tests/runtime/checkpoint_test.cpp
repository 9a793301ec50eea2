// Checkpoints that are not what a model would save: other types, shapes and names, several files.
#include <attn/safetensors.h>
#include <attn/train.h>
#include <attn/types.h>
#include <sys/resource.h>

#include <attn/attn.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <vector>

#include "fake_model.h"
#include "files.h"

namespace {

using attn::Tensor;
using Extents = std::vector<int64_t>;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

attn_tensor shaped(void* data, attn_type type, const Extents& extents) {
  attn_tensor tensor = {data, type, static_cast<int32_t>(extents.size()), {}};
  std::copy(extents.begin(), extents.end(), tensor.extent);
  return tensor;
}

// A model of parameters alone, which is all that loading looks at.
class Checkpoint : public attn_test::Files {
 protected:
  Checkpoint() {
    options_.report_data = &reported_;
    options_.report = [](void* lines, const char* text) {
      static_cast<std::vector<std::string>*>(lines)->emplace_back(text);
    };
  }

  // A parameter of a type and shape, filled with 9; its values in f64 after load().
  void add_param(const char* name, attn_type type, const Extents& extents) {
    const attn_tensor shape = shaped(nullptr, type, extents);
    arguments_.push_back({name, type, shape.rank, {}, 1, name, ATTN_INIT_ZEROS, 0, 0, 0});
    params_.push_back(Tensor::like(shape));
    fill(params_.back(), [](int64_t) { return 9.0; });
  }
  template <class Value>
  static void fill(Tensor& tensor, Value value) {
    for (int64_t k = 0; k < tensor.count(); ++k) {
      const double v = value(k);
      if (tensor.type() == ATTN_F32) tensor.data<float>()[k] = static_cast<float>(v);
      if (tensor.type() == ATTN_F64) tensor.data<double>()[k] = v;
      void* data = tensor.view().data;
      if (tensor.type() == ATTN_F16) static_cast<uint16_t*>(data)[k] = attn_f16_from_f64(v);
      if (tensor.type() == ATTN_BF16) static_cast<uint16_t*>(data)[k] = attn_bf16_from_f64(v);
      if (tensor.type() == ATTN_I32) static_cast<int32_t*>(data)[k] = static_cast<int32_t>(v);
    }
  }
  static double value_of(const Tensor& tensor, int64_t k) {
    const void* data = tensor.view().data;
    if (tensor.type() == ATTN_F32) return tensor.data<float>()[k];
    if (tensor.type() == ATTN_F64) return tensor.data<double>()[k];
    const uint16_t bits = static_cast<const uint16_t*>(data)[k];
    return tensor.type() == ATTN_F16 ? attn_f32_from_f16(bits) : attn_f32_from_bf16(bits);
  }

  // A file of tensors that count from 1 to 2048 again and again, each from where the one before
  // ended.
  void save(const std::string& name, std::vector<std::pair<const char*, attn_tensor>> tensors) {
    std::vector<Tensor> held;
    std::vector<attn_tensor> views;
    std::vector<const char*> names;
    int64_t next = 0;
    for (const auto& [tensor, shape] : tensors) {
      held.push_back(Tensor::like(shape));
      fill(held.back(), [&](int64_t) { return static_cast<double>(1 + next++ % 2048); });
      views.push_back(held.back().view());
      names.push_back(tensor);
    }
    ASSERT_EQ(attn_weights_save(context_, path(name).c_str(), static_cast<int32_t>(names.size()),
                                names.data(), views.data()),
              ATTN_OK);
  }
  // The message, without the path and model that it begins with; "" after a success.
  std::string load(const std::string& name) {
    attn_model model = {};
    model.name = "m";
    model.n_params = static_cast<int32_t>(params_.size());
    model.params = arguments_.data();
    std::vector<attn_tensor> views;
    for (const Tensor& param : params_) views.push_back(param.view());
    reported_.clear();
    const attn_status status =
        attn_model_load_options(context_, &model, views.data(), path(name).c_str(), &options_);
    const std::string start = path(name) + " does not fit model m:\n  ";
    if (status == ATTN_OK) return "";
    const std::string text = message();
    return text.starts_with(start) ? text.substr(start.size()) : text;
  }

  std::vector<attn_argument> arguments_;
  std::vector<Tensor> params_;
  attn_load_options options_ = {};
  std::vector<std::string> reported_;
};

using Lines = std::vector<std::string>;

TEST_F(Checkpoint, LeavesOutExtraTensorsWhereAllowed) {
  add_param("w", ATTN_F32, {2});
  save("f", {{"mask", shaped(nullptr, ATTN_I32, {1, 3})}, {"w", shaped(nullptr, ATTN_F32, {2})}});
  EXPECT_EQ(load("f"), "\"mask\" is not in the model");
  EXPECT_EQ(reported_, Lines());
  EXPECT_EQ(value_of(params_[0], 0), 9);
  options_.ignore_extra = 1;
  EXPECT_EQ(load("f"), "");
  EXPECT_EQ(reported_, Lines{"\"mask\" is not in the model"});
  EXPECT_EQ(value_of(params_[0], 1), 5);
  options_.report = nullptr;
  EXPECT_EQ(load("f"), "");
}

TEST_F(Checkpoint, KeepsMissingParametersWhereAllowed) {
  add_param("v", ATTN_F32, {2});
  add_param("w", ATTN_F32, {2});
  save("f", {{"w", shaped(nullptr, ATTN_F32, {2})}});
  EXPECT_EQ(load("f"), "\"v\" is missing");
  EXPECT_EQ(value_of(params_[1], 0), 9);
  options_.keep_missing = 1;
  EXPECT_EQ(load("f"), "");
  EXPECT_EQ(reported_, Lines{"\"v\" is missing"});
  EXPECT_EQ(value_of(params_[0], 0), 9);
  EXPECT_EQ(value_of(params_[1], 0), 1);
}

TEST_F(Checkpoint, NamesWhatIsThereUnderAPrefixMoreOrLess) {
  add_param("w", ATTN_F32, {2});
  save("f", {{"model.w", shaped(nullptr, ATTN_F32, {2})}});
  EXPECT_EQ(load("f"),
            "\"w\" is missing; did you mean \"model.w\"?\n  \"model.w\" is not in the model");
  save("g", {{"row", shaped(nullptr, ATTN_F32, {2})}});
  EXPECT_EQ(load("g"), "\"w\" is missing\n  \"row\" is not in the model");
  params_.clear(), arguments_.clear();
  add_param("encoder.w", ATTN_F32, {2});
  save("h", {{"w", shaped(nullptr, ATTN_F32, {2})}});
  EXPECT_EQ(load("h"),
            "\"encoder.w\" is missing; did you mean \"w\"?\n  \"w\" is not in the model");
}

TEST_F(Checkpoint, ConvertsEveryRealTypeToEveryOther) {
  constexpr attn_type kTypes[] = {ATTN_F32, ATTN_F64, ATTN_F16, ATTN_BF16};
  for (const attn_type from : kTypes) {
    for (const attn_type to : kTypes) {
      params_.clear(), arguments_.clear();
      // More than one block of the conversion, so that threads share it.
      add_param("w", to, {70000});
      save("f", {{"w", shaped(nullptr, from, {70000})}});
      Tensor expected = Tensor::like(shaped(nullptr, from, {70000}));
      fill(expected, [](int64_t k) { return static_cast<double>(k % 2048 + 1); });
      options_.convert_types = 0;
      EXPECT_EQ(load("f").find(", must be ") != std::string::npos, from != to);
      options_.convert_types = 1;
      ASSERT_EQ(load("f"), "");
      Tensor rounded = Tensor::like(params_[0].view());
      fill(rounded, [&](int64_t k) { return value_of(expected, k); });
      for (int64_t k = 0; k < 70000; ++k)
        ASSERT_EQ(value_of(params_[0], k), value_of(rounded, k)) << from << to << k;
    }
  }
}

TEST_F(Checkpoint, RefusesWhatATypeDoesNotHold) {
  add_param("w", ATTN_F16, {3});
  float values[] = {1, 70000, -kInfinity};
  const attn_tensor tensor = shaped(values, ATTN_F32, {3});
  const char* name = "w";
  ASSERT_EQ(attn_weights_save(context_, path("f").c_str(), 1, &name, &tensor), ATTN_OK);
  options_.convert_types = 1;
  EXPECT_EQ(load("f"), "\"w\": element 1 is 70000, which f16 does not hold");
  EXPECT_EQ(value_of(params_[0], 0), 9);
  options_.allow_overflow = 1;
  EXPECT_EQ(load("f"), "");
  EXPECT_EQ(reported_, (Lines{"\"w\" is f32, converted to f16",
                              "\"w\": element 1 is 70000, which f16 does not hold"}));
  EXPECT_EQ(value_of(params_[0], 1), kInfinity);
  EXPECT_EQ(value_of(params_[0], 2), -kInfinity);
  save("integers", {{"w", shaped(nullptr, ATTN_I32, {3})}});
  EXPECT_EQ(load("integers"), "\"w\" is i32, must be f16");
}

TEST_F(Checkpoint, TakesShapesWithNeighbouringDimensionsMerged) {
  const struct {
    Extents param, file;
    bool fits;
  } kCases[] = {
      {{2, 3, 4}, {6, 4}, true},    {{2, 3, 4}, {2, 12}, true}, {{2, 3, 4}, {24}, true},
      {{6, 4}, {2, 3, 4}, true},    {{4}, {1, 4}, true},        {{1, 4, 1}, {4}, true},
      {{}, {1, 1}, true},           {{2, 3, 4}, {4, 6}, false}, {{2, 3, 4}, {8, 3}, false},
      {{2, 6}, {4, 3}, false},      {{2, 3}, {3, 2}, false},    {{2, 3}, {7}, false},
      {{2, 2, 2, 2}, {4, 4}, true}, {{4, 4}, {2, 8}, false},
  };
  for (const auto& c : kCases) {
    params_.clear(), arguments_.clear();
    add_param("w", ATTN_F32, c.param);
    save("f", {{"w", shaped(nullptr, ATTN_F32, c.file)}});
    options_.merge_dimensions = 0;
    EXPECT_NE(load("f"), "");
    options_.merge_dimensions = 1;
    const std::string text = load("f");
    EXPECT_EQ(text.empty(), c.fits) << text;
    EXPECT_EQ(reported_.size(), size_t{c.fits});
    for (int64_t k = 0; k < params_[0].count(); ++k)
      EXPECT_EQ(value_of(params_[0], k), c.fits ? static_cast<double>(k + 1) : 9);
  }
  EXPECT_EQ(load("f"), "\"w\" has shape [2, 8], must have [4, 4]");
}

TEST_F(Checkpoint, ReadsTheFilesOfAnIndex) {
  for (const char* name : {"a", "b", "c"}) add_param(name, ATTN_F32, {2});
  save("1.safetensors", {{"a", shaped(nullptr, ATTN_F32, {2})}});
  save("2.safetensors",
       {{"b", shaped(nullptr, ATTN_F32, {2})}, {"c", shaped(nullptr, ATTN_F32, {2})}});
  const std::string index = "model.safetensors.index.json";
  write(index, R"({"metadata": {"total_size": 24.0e0, "x": [null, {"]": "}"}]}, "weight_map": {)"
               R"("c": "2.safetensors", "\u0061": "1.safetensors", "b": "2.safetensors"}})");
  for (const std::string& name : {index, std::string()}) {
    params_.clear(), arguments_.clear();
    for (const char* param : {"a", "b", "c"}) add_param(param, ATTN_F32, {2});
    ASSERT_EQ(load(name), "");
    EXPECT_EQ(value_of(params_[0], 0), 1);
    EXPECT_EQ(value_of(params_[1], 0), 1);
    EXPECT_EQ(value_of(params_[2], 1), 4);
  }
  // Without an index, a folder is the one file in it.
  std::filesystem::remove(path(index));
  EXPECT_EQ(load(""),
            folder_ + "/: has neither model.safetensors.index.json nor model.safetensors");
  std::filesystem::rename(path("2.safetensors"), path("model.safetensors"));
  EXPECT_EQ(load(""), "\"a\" is missing");
}

TEST_F(Checkpoint, RefusesFalseIndices) {
  add_param("a", ATTN_F32, {2});
  save("1.safetensors", {{"a", shaped(nullptr, ATTN_F32, {2})}});
  const auto refused = [&](const std::string& text) {
    const std::string start = write("i.json", text) + ": ";
    const std::string message = load("i.json");
    return message.starts_with(start) ? message.substr(start.size()) : message;
  };
  const auto mapped = [&](const std::string& map) {
    return refused("{\"weight_map\": " + map + "}");
  };
  EXPECT_EQ(mapped(R"({"a": "1.safetensors"})"), "");
  EXPECT_EQ(refused(""), "byte 0: the index is no object");
  EXPECT_EQ(refused("[]"), "byte 0: the index is no object");
  EXPECT_EQ(refused("{}"), "byte 2: weight_map is missing");
  EXPECT_EQ(refused("{\"metadata\": }"), "byte 13: a value is expected");
  EXPECT_EQ(refused("{\"metadata\": [[1, 2}"), "byte 20: a value does not end");
  EXPECT_EQ(refused("{\"metadata\": " + std::string(1000000, '[')),
            "byte 1000013: a value does not end");
  EXPECT_EQ(refused("{\"weight_map\": {}} x"), "byte 19: the index goes on after its object");
  EXPECT_EQ(refused("{\"weight_map\": {}, \"weight_map\": {}}"),
            "byte 32: weight_map is given twice");
  EXPECT_EQ(mapped("[]"), "byte 15: weight_map is no object");
  EXPECT_EQ(mapped(R"({"a": 1})"), "byte 21: a string is expected");
  EXPECT_EQ(mapped("{\"\xff\": \"1.safetensors\"}"), "the index is not UTF-8");
  EXPECT_EQ(mapped(R"({"b": "1.safetensors"})"), "tensor \"b\" is not in \"1.safetensors\"");
  EXPECT_EQ(mapped(R"({"a\u0000": "1.safetensors"})"),
            "tensor \"a\\x00\" is not in \"1.safetensors\"");
  EXPECT_EQ(mapped(R"({"a": "1.safetensors", "a": "1.safetensors"})"),
            "tensor \"a\" is given twice");
  EXPECT_EQ(mapped(R"({"a": "../1.safetensors"})"),
            "file \"../1.safetensors\": a name has the path \"..\"");
  EXPECT_EQ(mapped(R"({"a": "/etc/passwd"})"), "file \"/etc/passwd\": it is not beside the index");
  std::filesystem::create_directory(path("folder"));
  std::filesystem::copy(path("1.safetensors"), path("folder/model.safetensors"));
  EXPECT_EQ(mapped(R"({"a": "folder"})"), path("folder") + ": is a directory");
  EXPECT_EQ(mapped(R"({"a": "i.json"})").find("is not a safetensors file"), 0u);
  EXPECT_EQ(mapped(R"({"a": ""})"), "file \"\": a name is empty");
  EXPECT_EQ(mapped(R"({"a": "none"})"), path("none") + ": No such file or directory");
  write("cut", read("1.safetensors").substr(0, 40));
  EXPECT_EQ(mapped(R"({"a": "cut"})").find(path("cut") + ": is not a safetensors file, or was cut"),
            0u);
  EXPECT_EQ(value_of(params_[0], 0), 1);  // of the one that was good
}

TEST_F(Checkpoint, EveryPrefixAndFlippedByteOfAnIndexIsSafe) {
  add_param("a", ATTN_F32, {2});
  save("1", {{"a", shaped(nullptr, ATTN_F32, {2})}});
  const std::string whole = R"({"x":[1,{"y":null}],"weight_map":{"\u0061":"1"}})";
  write("i.json", whole);
  ASSERT_EQ(load("i.json"), "");
  for (size_t n = 0; n < whole.size(); ++n) {
    write("i.json", whole.substr(0, n));
    EXPECT_NE(load("i.json"), "") << n;
    for (int flip = 1; flip < 256; flip += 42) {
      std::string changed = whole;
      changed[n] = static_cast<char>(changed[n] ^ flip);
      write("i.json", changed);
      load("i.json");
    }
  }
}

#ifndef ATTN_SANITIZED
// Anonymous memory for half of the file is all that is left.
TEST_F(Checkpoint, KeepsNoCopyOfAFile) {
  constexpr int64_t kCount = int64_t{1} << 24;
  add_param("w", ATTN_F32, {kCount});
  save("f", {{"w", shaped(nullptr, ATTN_F32, {kCount})}});
  attn_context_trim(context_);
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word && word != "VmData:") {
  }
  rlim_t kilobytes = 0;
  status >> kilobytes;
  rlimit before, limit;
  ASSERT_EQ(getrlimit(RLIMIT_DATA, &before), 0);
  limit = before;
  limit.rlim_cur = (kilobytes << 10) + 2 * kCount;
  ASSERT_EQ(setrlimit(RLIMIT_DATA, &limit), 0);
  const bool has_room = malloc(4 * kCount) != nullptr;
  const std::string text = load("f");
  setrlimit(RLIMIT_DATA, &before);
  EXPECT_FALSE(has_room);
  EXPECT_EQ(text, "");
  EXPECT_EQ(value_of(params_[0], 1000), 1001);
}
#endif

TEST_F(Checkpoint, AModelLoadsWithOptions) {
  attn::Context attn(2);
  const attn_load_options lenient = {
      .ignore_extra = true, .convert_types = true, .merge_dimensions = true};
  save("f", {{"linear.weight", shaped(nullptr, ATTN_F64, {3, 1})},
             {"c", shaped(nullptr, ATTN_BF16, {1})},
             {"z", shaped(nullptr, ATTN_I32, {2})}});
  attn::Model fixed(attn, fake_fixed_model());
  EXPECT_FALSE(fixed.load(path("f")));
  const attn::Status status = fixed.load(path("f"), lenient);
  ASSERT_TRUE(status) << status.text();
  EXPECT_EQ(fixed.param("w").data<float>()[2], 3);
  EXPECT_EQ(*fixed.param("c").data<float>(), 4);
  // A run-time size comes from a tensor of the parameter's rank.
  attn::Model line(attn, fake_model());
  save("g", {{"w", shaped(nullptr, ATTN_F16, {3})}, {"c", shaped(nullptr, ATTN_F16, {})}});
  ASSERT_TRUE(line.load(path("g"), lenient));
  EXPECT_EQ(line.param("w").data<float>()[2], 3);
  // What is missing keeps what init made.
  attn::Model other(attn, fake_fixed_model());
  save("h", {{"linear.weight", shaped(nullptr, ATTN_F32, {3})}});
  EXPECT_EQ(other.load(path("h"), {.keep_missing = true}).text(),
            "fixed_line: keeps what is missing as init makes it: call init");
  ASSERT_TRUE(other.init(1));
  ASSERT_TRUE(other.load(path("h"), {.keep_missing = true}));
  EXPECT_EQ(*other.param("c").data<float>(), 0.5f);
}

}  // namespace
