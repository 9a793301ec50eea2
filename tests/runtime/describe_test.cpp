// What the descriptions say is what the headers say, and what the tables hold.
#include <attn/attn.h>
#include <attn/describe.h>
#include <attn/train.h>
#include <gtest/gtest.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fake_model.h"

namespace {

using Json = nlohmann::json;

std::string interface_text() {
  std::string text(static_cast<size_t>(attn_describe_interface(nullptr, 0)) + 1, '?');
  attn_describe_interface(text.data(), static_cast<int64_t>(text.size()));
  text.pop_back();
  return text;
}

Json describe(const attn_model* model) {
  std::string text(static_cast<size_t>(attn_describe_model(model, nullptr, 0)) + 1, '?');
  attn_describe_model(model, text.data(), static_cast<int64_t>(text.size()));
  text.pop_back();
  return Json::parse(text);
}

// A struct that is filled by what the description says of its fields.
class Filled {
 public:
  explicit Filled(const std::string& name)
      : description_(Json::parse(interface_text()).at("structs").at(name)),
        bytes_(description_.at("bytes").get<size_t>()) {}

  template <class Value>
  Filled& set(const std::string& name, Value value, size_t k = 0) {
    for (const Json& field : description_.at("fields")) {
      if (field.at("name") != name) continue;
      EXPECT_EQ(field.at("bytes"), sizeof value) << name;
      EXPECT_LT(k, field.at("count").get<size_t>()) << name;
      memcpy(&bytes_.at(field.at("offset").get<size_t>() + k * sizeof value), &value, sizeof value);
      return *this;
    }
    ADD_FAILURE() << "no field " << name;
    return *this;
  }
  template <class Struct>
  Struct as() const {
    Struct result;
    EXPECT_EQ(bytes_.size(), sizeof result);
    memcpy(&result, bytes_.data(), sizeof result);
    return result;
  }

 private:
  Json description_;
  std::vector<char> bytes_;
};

TEST(Description, HasTheVersionAndTheTypes) {
  const Json description = Json::parse(interface_text());
  EXPECT_EQ(description.at("abi"), ATTN_ABI_VERSION);
  EXPECT_EQ(description.at("types"), Json({"f32", "f64", "f16", "bf16", "i32", "bool"}));
}

TEST(Description, LaysOutATensor) {
  float x = 0;
  const auto t = Filled("attn_tensor")
                     .set("data", static_cast<void*>(&x))
                     .set("type", int32_t{ATTN_I32})
                     .set("rank", int32_t{2})
                     .set("extent", int64_t{5}, 0)
                     .set("extent", int64_t{7}, ATTN_MAX_RANK - 1)
                     .set("device.type", int32_t{ATTN_CUDA})
                     .set("device.ordinal", int32_t{3})
                     .as<attn_tensor>();
  EXPECT_EQ(t.data, &x);
  EXPECT_EQ(t.type, ATTN_I32);
  EXPECT_EQ(t.rank, 2);
  EXPECT_EQ(t.extent[0], 5);
  EXPECT_EQ(t.extent[ATTN_MAX_RANK - 1], 7);
  EXPECT_EQ(t.device.type, ATTN_CUDA);
  EXPECT_EQ(t.device.ordinal, 3);
}

TEST(Description, LaysOutSizesAndOptions) {
  const auto sizes = Filled("attn_sizes")
                         .set("forward_workspace", int64_t{1})
                         .set("training_workspace", int64_t{7})
                         .set("backward_workspace", int64_t{2})
                         .set("saved", int64_t{3})
                         .set("jvp_workspace", int64_t{4})
                         .set("hvp_workspace", int64_t{5})
                         .set("probe_workspace", int64_t{6})
                         .as<attn_sizes>();
  EXPECT_EQ(sizes.forward_workspace, 1);
  EXPECT_EQ(sizes.training_workspace, 7);
  EXPECT_EQ(sizes.backward_workspace, 2);
  EXPECT_EQ(sizes.saved, 3);
  EXPECT_EQ(sizes.jvp_workspace, 4);
  EXPECT_EQ(sizes.hvp_workspace, 5);
  EXPECT_EQ(sizes.probe_workspace, 6);
  int data = 0;
  const auto options = Filled("attn_context_options")
                           .set("threads", int32_t{2})
                           .set("pool_bytes", int64_t{9})
                           .set("log_data", static_cast<void*>(&data))
                           .set("device.type", int32_t{ATTN_OTHER})
                           .as<attn_context_options>();
  EXPECT_EQ(options.threads, 2);
  EXPECT_EQ(options.pool_bytes, 9);
  EXPECT_EQ(options.log_data, &data);
  EXPECT_EQ(options.device.type, ATTN_OTHER);
  const auto load = Filled("attn_load_options")
                        .set("ignore_extra", int32_t{1})
                        .set("keep_missing", int32_t{2})
                        .set("convert_types", int32_t{3})
                        .set("allow_overflow", int32_t{4})
                        .set("merge_dimensions", int32_t{5})
                        .set("report_data", static_cast<void*>(&data))
                        .as<attn_load_options>();
  EXPECT_EQ(load.ignore_extra, 1);
  EXPECT_EQ(load.keep_missing, 2);
  EXPECT_EQ(load.convert_types, 3);
  EXPECT_EQ(load.allow_overflow, 4);
  EXPECT_EQ(load.merge_dimensions, 5);
  EXPECT_EQ(load.report_data, &data);
}

TEST(Description, WritesNoMoreThanItMay) {
  const std::string whole = interface_text();
  for (const size_t size : {size_t{1}, size_t{20}, whole.size(), whole.size() + 1}) {
    std::string text(size + 1, '?');
    EXPECT_EQ(attn_describe_interface(text.data(), static_cast<int64_t>(size)), whole.size());
    EXPECT_EQ(text[size], '?');
    EXPECT_EQ(std::string(text.c_str()), whole.substr(0, size - 1));
  }
}

TEST(Description, HasWhatTheTablesHold) {
  const attn_model* model = fake_model();
  const Json description = describe(model);
  EXPECT_EQ(description.at("name"), model->name);
  EXPECT_EQ(description.at("sizes"), Json::parse(R"([{"name": "B", "least": 0, "greatest": null},
                            {"name": "D", "least": 0, "greatest": null}])"));
  EXPECT_EQ(description.at("params").at(0),
            Json::parse(R"({"name": "w", "type": "f32", "extents": [{"text": "D", "size": 1}],
                            "differentiable": true, "weight_name": "w", "init": "xavier"})"));
  EXPECT_EQ(description.at("inputs").at(0).at("extents"),
            Json::parse(R"([{"text": "B", "size": 0}, {"text": "D", "size": 1}])"));
  EXPECT_EQ(description.at("states"), Json::array());
  EXPECT_EQ(description.at("outputs").size(), model->n_outputs);
  EXPECT_EQ(description.at("gradient"), true);
  EXPECT_EQ(description.at("jvp"), false);
  EXPECT_EQ(
      description.at("step").at("options"),
      Json::parse(R"([{"name": "lr", "default": null}, {"name": "momentum", "default": 0}])"));
}

TEST(Description, SaysWhichExtentsAreKnown) {
  const Json description = describe(fake_fixed_model());
  EXPECT_EQ(description.at("params").at(0).at("extents"),
            Json::parse(R"([{"text": "3", "value": 3}])"));
  EXPECT_EQ(description.at("params").at(0).at("weight_name"), "linear.weight");
}

}  // namespace
