#include "runnel/tools/custom/load_custom_modules.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include "runnel/base/yaml/yaml_file.h"
#include "runnel/base/yaml/yaml_folder.h"
#include "runnel/base/yaml/yaml_json.h"

namespace runnel::tools {

namespace fs = std::filesystem;
namespace json = boost::json;

namespace {

constexpr base::NumberRange kProcessRange{0, 10'000};
constexpr base::NumberRange kMemoryRange{16, 65'536};
constexpr base::NumberRange kTimeoutRange{1, 240};

// What programs and interpreters need, and everybody may read. What the machine does not have is left out.
constexpr std::array<char const*, 8> kSystemFiles{
    "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/etc/localtime"};
// What resolves names and verifies servers.
constexpr std::array<char const*, 7> kNetworkFiles{
    "/etc/resolv.conf", "/etc/hosts",    "/etc/nsswitch.conf",  "/etc/ssl/certs",
    "/etc/services",    "/etc/gai.conf", "/etc/ssl/openssl.cnf"};

std::map<std::string, std::string, std::less<>> variables_in(char const* const* environment) {
  std::map<std::string, std::string, std::less<>> out;
  for (auto const* const* at = environment; at != nullptr && *at != nullptr; ++at) {
    std::string_view const variable{*at};
    auto const equals = variable.find('=');
    if (equals != std::string_view::npos) out.emplace(variable.substr(0, equals), variable);
  }
  return out;
}

bool is_variable_name(std::string_view name) {
  bool const begins_well = !name.empty() && (name.front() < '0' || name.front() > '9');
  return begins_well && std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
         });
}

// Those that a module gets anyway, and those that change how its program is loaded.
bool is_reserved(std::string_view name) {
  return name.starts_with("RUNNEL_") || name.starts_with("LD_") || name == "PATH" || name == "LANG";
}

// Through these a program could read what other processes have in memory or in their environment.
bool shows_processes(fs::path const& path) {
  auto const text = path.string();
  return text == "/" || text == "/proc" || text.starts_with("/proc/");
}

bool lies_in(fs::path const& path, fs::path const& folder) {
  auto const [in_path, in_folder] = std::mismatch(path.begin(), path.end(), folder.begin(), folder.end());
  return in_folder == folder.end();
}

// The folder that every module may read and that this path lies in. Null if there is none.
char const* system_folder_of(std::string const& path) {
  std::error_code error;
  auto const real = fs::weakly_canonical(path, error);
  auto const* const found = std::find_if(kSystemFiles.begin(), kSystemFiles.end(), [&](char const* folder) {
    return !error && lies_in(real, fs::weakly_canonical(folder, error));
  });
  return found != kSystemFiles.end() ? *found : nullptr;
}

class ModuleReader {
 public:
  ModuleReader(base::YamlFile& file, fs::path folder, CustomModuleFiles const& files)
      : file_{file}, folder_{std::move(folder)}, files_{files} {}

  CustomModule read(YAML::Node const& map) {
    base::YamlFields const fields{map,
                                  {"module", "program", "network", "processes", "memory_mb", "timeout_s",
                                   "read", "environment", "methods"},
                                  problems()};
    read_name(fields, map.Mark());
    read_program(fields, map.Mark());
    file_.truth(fields, "network", out_.network);
    file_.number(fields, "processes", kProcessRange, out_.processes);
    file_.number(fields, "memory_mb", kMemoryRange, out_.memory_mb);
    if (fields.has("timeout_s")) file_.number(fields, "timeout_s", kTimeoutRange, out_.timeout_s.emplace(1));
    read_readable(fields);
    read_variables(fields);
    read_methods(fields, map.Mark());
    return std::move(out_);
  }

 private:
  base::YamlProblems& problems() { return file_.problems(); }

  void read_name(base::YamlFields const& fields, YAML::Mark const& owner) {
    auto const name = file_.word(fields, "module", owner);
    if (!name || !base::check_name(*name, "a module", problems())) return;
    out_.name = name->name;
    if (std::find(files_.taken.begin(), files_.taken.end(), name->name) != files_.taken.end())
      problems().add(name->mark, fmt::format("there is a module '{}' already", name->name));
  }

  [[nodiscard]] fs::path resolved(std::string const& written) const {
    return (folder_ / written).lexically_normal();
  }

  void read_program(base::YamlFields const& fields, YAML::Mark const& owner) {
    auto const program = file_.word(fields, "program", owner);
    if (!program) return;
    auto const path = resolved(program->name);
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
      problems().add(program->mark, fmt::format("there is no program {}", path.string()));
    } else if ((fs::status(path, error).permissions() & fs::perms::others_exec) == fs::perms::none) {
      problems().add(program->mark,
                     fmt::format("{0} is not executable for everybody; run: chmod a+rx {0}", path.string()));
    }
    out_.program = path.string();
  }

  void add_existing(char const* path) {
    std::error_code error;
    if (fs::exists(path, error)) out_.readable.emplace_back(path);
  }

  void read_readable(base::YamlFields const& fields) {
    for (auto const* const path : kSystemFiles)
      add_existing(path);
    for (auto const* const path : kNetworkFiles) {
      if (out_.network) add_existing(path);
    }
    for (auto const& word : file_.words(fields, "read"))
      read_path(word);
  }

  // The path is kept as it is now, so that a link that is changed later leads nowhere else.
  void read_path(base::PlacedName const& word) {
    std::error_code error;
    auto const path = fs::canonical(resolved(word.name), error);
    if (error) {
      problems().add(word.mark, fmt::format("there is no file or folder {}", resolved(word.name).string()));
    } else if (shows_processes(path)) {
      problems().add(word.mark,
                     fmt::format("{} cannot be read by a module: it shows other processes", path.string()));
    } else if (auto const* const kept = closed_by(path)) {
      problems().add(word.mark, fmt::format("{} cannot be read by a module: {} belongs to the server",
                                            path.string(), *kept));
    } else {
      out_.readable.push_back(path.string());
    }
  }

  // The path of the server's own that lies in `path`, or that `path` lies in. Null if there is none.
  [[nodiscard]] std::string const* closed_by(fs::path const& path) const {
    for (auto const& kept : files_.closed) {
      std::error_code error;
      auto const closed = fs::weakly_canonical(kept, error);
      if (!error && (lies_in(closed, path) || lies_in(path, closed))) return &kept;
    }
    return nullptr;
  }

  void read_variables(base::YamlFields const& fields) {
    auto const variables = variables_in(files_.environment);
    for (auto const& name : file_.words(fields, "environment")) {
      auto const found = variables.find(name.name);
      if (!is_variable_name(name.name)) {
        problems().add(name.mark, fmt::format("'{}' is not the name of a variable; give only the name, and "
                                              "set its value in the server's environment",
                                              name.name));
      } else if (is_reserved(name.name)) {
        problems().add(name.mark, fmt::format("{} cannot be passed to a module", name.name));
      } else if (found == variables.end()) {
        problems().add(name.mark,
                       fmt::format("the variable {} is not set in the server's environment", name.name));
      } else {
        out_.variables.push_back(found->second);
      }
    }
  }

  void read_methods(base::YamlFields const& fields, YAML::Mark const& owner) {
    auto const* const methods = fields.find("methods");
    if (methods == nullptr || !methods->IsMap() || methods->size() == 0) {
      if (!fields.keys_unclear())
        problems().add(methods != nullptr ? methods->Mark() : owner, "'methods' must be a map of methods");
      return;
    }
    base::for_each_member(*methods, problems(), [&](YAML::Node const& key, YAML::Node const& value) {
      read_method({key.Scalar(), key.Mark()}, value);
    });
  }

  void read_method(base::PlacedName const& name, YAML::Node const& node) {
    base::check_name(name, "a method", problems());
    base::YamlFields const fields{
        node, {"description", "input", "approval", "allow", "idempotent"}, problems()};
    if (!node.IsMap()) return;
    auto const description = file_.word(fields, "description", name.mark);
    auto const input = read_input(fields, name.mark);
    if (!input) return;
    auto schema = base::JsonSchema::load(*input, {});
    if (!schema) {
      auto const& detail = schema.error().detail;
      problems().add(base::find_part(*fields.find("input"), detail.substr(0, detail.find(':'))), detail);
      return;
    }
    CustomMethod method{name.name, std::move(*schema)};
    method.input_schema = json::serialize(*input);
    method.description = description ? description->name : std::string{};
    method.needs_approval = read_approval(fields);
    file_.truth(fields, "idempotent", method.idempotent);
    for (auto const& flow : file_.words(fields, "allow"))
      method.flows.push_back(flow.name);
    if (auto const* const allow = fields.find("allow");
        allow != nullptr && allow->IsSequence() && allow->size() == 0)
      problems().add(*allow, "'allow' must name at least one flow; leave it out to allow all");
    out_.methods.push_back(std::move(method));
  }

  // The schema of the input. It must say what happens to unknown members, because strict is what models need
  // (TOOL-4), and JSON Schema is lenient by itself.
  std::optional<json::value> read_input(base::YamlFields const& fields, YAML::Mark const& owner) {
    auto const* const node = fields.find("input");
    if (node == nullptr) {
      if (!fields.keys_unclear()) problems().add(owner, "'input' is missing: the JSON Schema of the input");
      return std::nullopt;
    }
    auto value = base::to_json(*node, problems());
    if (!value) return std::nullopt;
    auto const* const schema = value->if_object();
    auto const* const type = schema != nullptr ? schema->if_contains("type") : nullptr;
    if (type == nullptr || *type != "object") {
      problems().add(*node, "'input' must be a JSON Schema with 'type: object'");
      return std::nullopt;
    }
    if (!schema->contains("additionalProperties")) {
      problems().add(*node,
                     "'input' must have 'additionalProperties: false', so that unknown members are "
                     "refused, or 'true' to accept them");
      return std::nullopt;
    }
    return value;
  }

  bool read_approval(base::YamlFields const& fields) {
    auto const approval = file_.optional_word(fields, "approval");
    if (approval && approval->name != "required" && approval->name != "none")
      problems().add(approval->mark, "'approval' must be required or none");
    return approval && approval->name == "required";
  }

  base::YamlFile& file_;
  fs::path folder_;
  CustomModuleFiles const& files_;
  CustomModule out_;
};

}  // namespace

LoadedCustomModules load_custom_modules(CustomModuleFiles const& files) {
  LoadedCustomModules loaded;
  std::error_code error;
  auto const folder = fs::absolute(files.folder, error).lexically_normal();
  auto const found = base::yaml_files_in(folder.string());
  if (!found || found->empty()) {
    loaded.problems.push_back(
        fmt::format("tools.modules: {} {}", files.folder,
                    found ? "has no YAML file" : "is not a folder, or its files cannot be listed"));
    return loaded;
  }
  for (auto const& kept : files.closed) {
    if (auto const* const open = system_folder_of(kept)) {
      loaded.problems.push_back(fmt::format(
          "{} belongs to the server, but lies in {}, which custom modules can read; move it", kept, open));
    }
  }
  auto names = files;
  for (auto const& name : *found) {
    auto const path = (folder / name).string();
    auto const text = base::read_text_file(path);
    base::YamlFile file{path, text ? &*text : nullptr};
    if (file.map() != nullptr) {
      auto module = ModuleReader{file, folder, names}.read(*file.map());
      module.file = path;
      names.taken.push_back(module.name);
      loaded.modules.push_back(std::move(module));
    }
    auto const lines = file.problems().lines();
    loaded.problems.insert(loaded.problems.end(), lines.begin(), lines.end());
  }
  return loaded;
}

}  // namespace runnel::tools
