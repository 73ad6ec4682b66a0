#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "runnel/base/yaml/trouble.h"
#include "runnel/model/pricing/price_files.h"
#include "runnel/model/pricing/price_reader.h"

namespace runnel::model {
namespace {

class FileReader {
 public:
  FileReader(std::string const& file, std::int64_t now_ms) : problems_{file}, now_ms_{now_ms} {}

  Result<std::vector<ModelPrices>> read(YAML::Node const& root) {
    YamlFields const fields{root, {"currency", "zone", "models"}, problems_};
    read_defaults(fields);
    std::vector<ModelPrices> all;
    if (auto const* models = fields.find("models")) {
      for_each_member(*models, problems_, [&](YAML::Node const& name, YAML::Node const& prices) {
        all.push_back(model(name, prices));
      });
    } else {
      problems_.add(root, "'models' is missing");
    }
    if (problems_.any()) return problems_.error();
    return all;
  }

 private:
  void read_defaults(YamlFields const& fields) {
    if (auto const* currency = fields.find("currency")) {
      check_currency(*currency, problems_);
      defaults_.currency = kCurrency;
    }
    if (auto const* zone = fields.find("zone")) {
      defaults_.zone = read_zone(*zone, problems_);
      // One mistake gives one message: the entries are read as if the file had a valid zone.
      if (!defaults_.zone) defaults_.zone = Zone::find("UTC");
    }
  }

  ModelPrices model(YAML::Node const& name, YAML::Node const& prices) {
    if (prices.IsMap()) {
      YamlFields const fields{prices, {"free"}, problems_};
      if (fields.text("free") != "true")
        problems_.add(prices, "a model needs a list of price entries, or free: true");
      return free_model(name.Scalar());
    }
    ModelPrices model{name.Scalar(), PriceList::custom_pricing, {}};
    if (!prices.IsSequence() || prices.size() == 0) {
      problems_.add(name,
                    fmt::format("model '{}' needs a list of price entries, or free: true", name.Scalar()));
      return model;
    }
    std::vector<Placed> placed;
    for (YAML::Node const& node : prices)
      placed.push_back({node, read_price_entry(node, defaults_, problems_)});
    check_order(name, placed);
    for (auto& entry : placed)
      model.entries.push_back(std::move(entry.entry));
    return model;
  }

  struct Placed {
    YAML::Node node;
    PriceEntry entry;
  };

  // Sorts the entries by time. They must not overlap, and must not leave a gap that contains the present.
  void check_order(YAML::Node const& name, std::vector<Placed>& entries) {
    std::stable_sort(entries.begin(), entries.end(), [](Placed const& a, Placed const& b) {
      return a.entry.from_ms.value_or(INT64_MIN) < b.entry.from_ms.value_or(INT64_MIN);
    });
    for (std::size_t at = 1; at < entries.size(); ++at) {
      auto const ends = entries[at - 1].entry.until_ms.value_or(INT64_MAX);
      auto const begins = entries[at].entry.from_ms.value_or(INT64_MIN);
      if (begins < ends) {
        problems_.add(entries[at].node, fmt::format("this entry overlaps the entry of '{}' in line {}",
                                                    name.Scalar(), entries[at - 1].node.Mark().line + 1));
      } else if (now_ms_ >= ends && now_ms_ < begins) {
        problems_.add(entries[at].node,
                      fmt::format("'{}' has no price now: the entry in line {} ended {}, this one begins {}",
                                  name.Scalar(), entries[at - 1].node.Mark().line + 1,
                                  entries[at - 1].entry.until, entries[at].entry.from));
      }
    }
  }

  YamlProblems problems_;
  std::int64_t now_ms_;
  PriceDefaults defaults_;
};

}  // namespace

Result<std::vector<ModelPrices>> parse_price_yaml(std::string const& text, std::string const& file,
                                                  std::int64_t now_ms) {
  try {
    return FileReader{file, now_ms}.read(YAML::Load(text));
  } catch (YAML::Exception const& error) {
    YamlProblems problem{file};
    auto const [mark, what] = base::explain_yaml(error, text);
    problem.add(mark, what);
    return problem.error();
  }
}

}  // namespace runnel::model
