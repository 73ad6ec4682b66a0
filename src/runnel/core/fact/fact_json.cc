#include "runnel/core/fact/fact_json.h"

#include <boost/json.hpp>

#include <array>
#include <utility>

#include "runnel/core/fact/fact_fields.h"
#include "runnel/core/json/write.h"

namespace runnel {
namespace {

namespace json = boost::json;

// --- Writing ---

template <Described T>
void append_fields(JsonObject& object, T const& value);

void append_value(std::string& out, bool value) {
  out += value ? "true" : "false";
}
void append_value(std::string& out, std::int64_t value) {
  append_json_number(out, value);
}
void append_value(std::string& out, std::uint64_t value) {
  append_json_number(out, value);
}
void append_value(std::string& out, Money value) {
  append_json_number(out, value.pico);
}
void append_value(std::string& out, std::string const& value) {
  append_json_string(out, value);
}

// It is written as a string and not nested, so that it is read back with the same bytes.
void append_value(std::string& out, JsonText const& value) {
  append_json_string(out, value.str());
}

template <class Tag>
void append_value(std::string& out, TextId<Tag> const& value) {
  append_json_string(out, value.text);
}

template <class Enum>
requires std::is_enum_v<Enum>
void append_value(std::string& out, Enum value) {
  append_json_string(out, to_string(value));
}

template <Described T>
void append_value(std::string& out, T const& value) {
  JsonObject object{out};
  append_fields(object, value);
  object.close();
}

template <class T>
void append_value(std::string& out, std::vector<T> const& values) {
  append_json_array(out, values, [](std::string& into, T const& value) { append_value(into, value); });
}

template <class T>
void append_field(JsonObject& object, std::string_view key, T const& value) {
  append_value(object.key(key), value);
}
template <class T>
void append_field(JsonObject& object, std::string_view key, std::optional<T> const& value) {
  if (value) append_value(object.key(key), *value);
}

template <Described T>
void append_fields(JsonObject& object, T const& value) {
  std::apply([&](auto const&... field) { (append_field(object, field.key, field.in(value)), ...); },
             kDescription<T>.fields);
}

// --- Reading: each function returns whether the stored value has the right type ---

template <Described T>
bool read_fields(json::object const& object, T& value);

template <class Number>
requires std::is_same_v<Number, std::int64_t> || std::is_same_v<Number, std::uint64_t>
bool read_value(json::value const& stored, Number& value) {
  if (!stored.is_int64() && !stored.is_uint64()) return false;
  json::error_code error;
  value = stored.to_number<Number>(error);
  return !error;
}

bool read_value(json::value const& stored, bool& value) {
  if (!stored.is_bool()) return false;
  value = stored.get_bool();
  return true;
}

bool read_value(json::value const& stored, Money& value) {
  return read_value(stored, value.pico);
}

bool read_value(json::value const& stored, std::string& value) {
  if (!stored.is_string()) return false;
  value.assign(stored.get_string().data(), stored.get_string().size());
  return true;
}

bool read_value(json::value const& stored, JsonText& value) {
  if (!stored.is_string()) return false;
  auto parsed = JsonText::parse(stored.get_string());
  if (!parsed) return false;
  value = std::move(*parsed);
  return true;
}

template <class Tag>
bool read_value(json::value const& stored, TextId<Tag>& value) {
  return read_value(stored, value.text);
}

template <class Enum>
requires std::is_enum_v<Enum>
bool read_value(json::value const& stored, Enum& value) {
  if (!stored.is_string()) return false;
  for (int i = 0; i < kEnumSize<Enum>; ++i) {
    value = static_cast<Enum>(i);
    if (stored.get_string() == to_string(value)) return true;
  }
  return false;
}

template <Described T>
bool read_value(json::value const& stored, T& value) {
  return stored.is_object() && read_fields(stored.get_object(), value);
}

template <class T>
bool read_value(json::value const& stored, std::vector<T>& values) {
  if (!stored.is_array()) return false;
  for (auto const& item : stored.get_array()) {
    if (!read_value(item, values.emplace_back())) return false;
  }
  return true;
}

// A missing field is read as its default, because versions before the one that added the field did not write
// it. A fact that makes no sense without it is refused later, by FactOrder.
template <class T>
bool read_field(json::object const& object, std::string_view key, T& value) {
  auto const* stored = object.if_contains(key);
  return stored == nullptr || read_value(*stored, value);
}
template <class T>
bool read_field(json::object const& object, std::string_view key, std::optional<T>& value) {
  auto const* stored = object.if_contains(key);
  return stored == nullptr || read_value(*stored, value.emplace());
}

// Reads one of the record's own fields, which every version writes.
template <class T>
bool read_own(json::object const& object, std::string_view key, T& value) {
  return object.contains(key) && read_field(object, key, value);
}

template <Described T>
bool read_fields(json::object const& object, T& value) {
  return std::apply(
      [&](auto const&... field) { return (read_field(object, field.key, field.in(value)) && ...); },
      kDescription<T>.fields);
}

// Creates the fact that the log calls `name`, and reads its fields.
template <std::size_t... I>
bool read_fact(json::object const& object, std::string_view name, Fact& fact, std::index_sequence<I...>) {
  auto const read_as = [&]<class T>(std::in_place_type_t<T>) {
    return kDescription<T>.name == name && read_fields(object, fact.emplace<T>());
  };
  return (read_as(std::in_place_type<std::variant_alternative_t<I, Fact>>) || ...);
}

bool read_record(json::value const& stored, Record& record) {
  if (!stored.is_object()) return false;
  auto const& object = stored.get_object();
  std::string name;
  return read_own(object, "n", record.position.n) && read_own(object, "idx", record.idx) &&
         read_own(object, "ts", record.time_us) && read_own(object, "fact", name) &&
         read_fact(object, name, record.fact, std::make_index_sequence<std::variant_size_v<Fact>>{});
}

}  // namespace

std::string_view fact_name(Fact const& fact) {
  return std::visit([]<class T>(T const&) { return kDescription<T>.name; }, fact);
}

void append_record_json(std::string& out, Record const& record) {
  JsonObject object{out};
  append_field(object, "n", record.position.n);
  append_field(object, "idx", record.idx);
  append_field(object, "ts", record.time_us);
  object.text("fact", fact_name(record.fact));
  std::visit([&](auto const& fact) { append_fields(object, fact); }, record.fact);
  object.close();
}

Result<std::vector<Record>> parse_log_body(std::string_view body, Epoch epoch) {
  std::array<unsigned char, std::size_t{16} * 1024> buffer;  // Most rows parse without the heap.
  json::monotonic_resource memory{buffer.data(), buffer.size()};
  json::error_code error;
  auto const document = json::parse(body, error, &memory);
  if (error) return Error{Errc::internal, "log body: " + error.message()};
  if (!document.is_array()) return Error{Errc::internal, "log body: it is not an array"};

  std::vector<Record> records;
  records.reserve(document.get_array().size());
  for (auto const& stored : document.get_array()) {
    auto& record = records.emplace_back();
    record.position.epoch = epoch;
    if (!read_record(stored, record)) {
      return Error{Errc::internal,
                   "log body: record " + std::to_string(records.size()) + " is not a valid fact"};
    }
  }
  return records;
}

void append_usage_json(std::string& out, std::vector<Usage> const& usage) {
  append_value(out, usage);
}

Result<std::vector<Usage>> parse_usage_json(std::string_view text) {
  json::error_code error;
  auto const document = json::parse(text, error);
  std::vector<Usage> usage;
  if (error || !read_value(document, usage))
    return Error{Errc::internal, "usage: it is not a list of usages"};
  return usage;
}

}  // namespace runnel
