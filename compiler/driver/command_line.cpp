#include "compiler/driver/command_line.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "compiler/target/target.h"

namespace attn::driver {
namespace {

constexpr int kMostJobs = 4096;
constexpr int kMostThreads = 1024;

constexpr const char* kFooter =
    "`attnc help COMMAND` says what a command takes.\n\n"
    "Exit status:\n"
    "  0  done\n"
    "  1  errors in the source, or `fmt --check` found other layout\n"
    "  2  the command line is wrong\n"
    "  3  a file, a folder, a program or a device cannot be read, written or run\n"
    "  4  a limit of attnc, or memory, is exceeded\n"
    "  5  `run`: the model refuses the data\n"
    "  70 a defect of attnc\n\n"
    "Environment:\n"
    "  CC               the C compiler, with options: CC=\"ccache gcc\"; else cc\n"
    "  TMPDIR           folder of temporary files; else /tmp\n"
    "  ATTNC_CACHE_DIR  folder of compiled kernels; else attnc in $XDG_CACHE_HOME or ~/.cache\n"
    "  ATTNC_CACHE_MAX  megabytes that it may take (2048); what was used least recently goes\n"
    "  NO_COLOR         no colours in messages; TERM=dumb too";

// What stands under the options of each command.
constexpr std::pair<const char*, const char*> kFooters[] = {
    {"build",
     "Examples:\n  attnc build model.attn -o generated\n"
     "  attnc build model.attn -D D=512 -t host --derive=jvp,hvp"},
    {"check",
     "Examples:\n  attnc check model.attn\n  attnc check model.attn -D D=512\n"
     "  attnc check - --diagnostics=json < model.attn"},
    {"emit",
     "ast: the file; graph: all definitions; gradient, jvp, hvp, probe, step: those of "
     "derivatives,\n"
     "of each probe and of the update; plan: kernels and memory; statement: the loops of each "
     "kernel;\n"
     "device: what a GPU is given, as PTX or OpenCL C.\n"
     "Examples:\n  attnc emit model.attn --stage=gradient\n"
     "  attnc emit model.attn --stage=gradient --after=derive\n"
     "  attnc emit model.attn --stage=statement -t host"},
    {"report",
     "-D sizes are built in and may change the plan; --size only computes numbers.\n"
     "Examples:\n  attnc report model.attn -o model.html\n"
     "  attnc report model.attn --size B=8 --size T=1024 > model.html"},
    {"run",
     "Results are NAME.npy in the folder, also dNAME (gradients), tNAME and hNAME (products).\n"
     "Examples:\n  attnc run model.attn --in x=x.npy --weights model.safetensors -o results\n"
     "  attnc run model.attn --in x=x.npy --in seed=1 --gradient --reference\n"
     "  attnc run model.attn --in x=x.npy --device cuda --trace"},
    {"bench",
     "GF/s counts every multiplication and addition as the plan does, also where a condition hides "
     "the\npoint; - * stands for a share above the peak. GB/s is what the kernel reads and writes, "
     "once\neach. Both are of the median call; --json counts operations in the same way.\n"
     "Examples:\n  attnc bench model.attn --size B=2 --size T=512\n"
     "  attnc bench model.attn --size T=4096 --seconds 10 --threads 8 --json"},
    {"doc", "Examples:\n  attnc doc model.attn\n  attnc doc std.norm"},
    {"fmt",
     "Examples:\n  attnc fmt model.attn\n  attnc fmt -w *.attn\n  attnc fmt --check --diff "
     "model.attn\n  attnc fmt - < model.attn"},
};

const CLI::Validator kNotEmpty(
    [](std::string& text) { return text.empty() ? std::string("takes a name") : std::string(); },
    "");
const CLI::Validator kSeed(
    [](std::string& text) {
      const bool is_number = !text.empty() && text.size() < 20 &&
                             std::all_of(text.begin(), text.end(),
                                         [](unsigned char x) { return std::isdigit(x) != 0; });
      return is_number ? std::string() : "takes an integer from 0, not " + text;
    },
    "");

// Adds what several commands have.
class Adder {
 public:
  explicit Adder(CommandLine& c) : c_(c) {}

  void file(CLI::App* s) { s->add_option("FILE", c_.file, "the .attn file")->required(); }
  // One a flag: what follows may be the file.
  void sizes(CLI::App* s) {
    s->add_option("-D", c_.sizes, "a size known when compiling: -D D=256")
        ->type_name("SIZE=n")
        ->allow_extra_args(false);
  }
  void run_time_sizes(CLI::App* s, const char* text) {
    s->add_option("--size", c_.run_time_sizes, text)->type_name("SIZE=n")->allow_extra_args(false);
  }
  void model(CLI::App* s, const char* text = "only this model") {
    s->add_option("--model", c_.model, text)->type_name("NAME")->check(kNotEmpty);
  }
  void out(CLI::App* s, const char* names, const char* text, const char* kind) {
    s->add_option(names, c_.out, text)->type_name(kind)->check(kNotEmpty);
  }
  void derivatives(CLI::App* s) {
    s->add_option("--derive", c_.derive,
                  "also of models without `train`: gradient; for all: jvp (Jacobian-vector "
                  "product), hvp (Hessian-vector product of the first scalar output, where there "
                  "is one)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"gradient", "jvp", "hvp"}));
  }
  void by(CLI::App* s) {
    names(s, "--wrt", c_.by,
          "derivatives with respect to these parameters and inputs only: wq or attn");
  }
  void names(CLI::App* s, const char* option, std::vector<std::string>& to, const char* text) {
    s->add_option(option, to, text)->type_name("NAME,...")->delimiter(',')->allow_extra_args(false);
  }
  void files(CLI::App* s, const char* option, std::vector<std::string>& to, const char* text) {
    s->add_option(option, to, text)->type_name("NAME=FILE")->allow_extra_args(false);
  }
  void targets(CLI::App* s, const std::string& text) {
    s->add_option("-t,--target", c_.targets, text)
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
    s->add_option("--matmul-precision", c_.matmul_precision,
                  "of products of f32 on CUDA: highest (exact products), high (error of f32, by "
                  "three products on tensor cores) or medium (one of bf16)")
        ->check(CLI::IsMember({"highest", "high", "medium"}));
  }
  void compiling(CLI::App* s) {
    // The callback outlives this object.
    s->add_flag_callback(
        "--no-cache", [&c = c_] { c.cache = false; }, "compile every kernel anew");
    progress(s);
  }
  void progress(CLI::App* s) {
    s->add_option("--progress", c_.progress, "auto: on a terminal; on: also elsewhere; off")
        ->check(CLI::IsMember({"auto", "on", "off"}));
  }
  void threads(CLI::App* s, const char* text) {
    s->add_option("--threads", c_.threads, text)->check(CLI::Range(1, kMostThreads));
  }
  void seed(CLI::App* s, const char* text) { s->add_option("--seed", c_.seed, text)->check(kSeed); }
  void device(CLI::App* s) {
    s->add_option("--device", c_.device,
                  "where the model runs: cpu, cuda or opencl; cuda:1 is the second GPU")
        ->type_name("DEVICE")
        ->check(kNotEmpty);
    targets(s, "what to compile for; default: the device's targets, or this machine");
  }
  void diagnostics(CLI::App* s) {
    s->add_option("--diagnostics", c_.diagnostics, "of the source: text, or json, an object a line")
        ->check(CLI::IsMember({"text", "json"}));
  }

 private:
  CommandLine& c_;
};

void add_build(CLI::App* s, CommandLine& c, Adder& add) {
  add.file(s);
  add.sizes(s);
  add.model(s);
  add.derivatives(s);
  add.by(s);
  add.out(s, "-o,--out-dir,--out", "folder of the results; default: generated", "FOLDER");
  s->add_option("-n,--name", c.name, "stem of the results' names; default: the file's")
      ->check(kNotEmpty);
  add.targets(s, fmt::format("host, cuda, or {}; default: {}", fmt::join(target::names(), ", "),
                             fmt::join(target::names_for(ATTN_CPU), ", ")));
  s->add_flag("--shared", c.shared,
              "also a shared library, with the runtime: what Python and the like load");
  s->add_option("-j,--jobs", c.jobs, "kernels compiled at a time; default: one per processor")
      ->check(CLI::Range(1, kMostJobs));
  add.compiling(s);
  add.diagnostics(s);
}

void add_check(CLI::App* s, Adder& add) {
  add.file(s);
  add.sizes(s);
  add.model(s);
  add.derivatives(s);
  add.by(s);
  add.diagnostics(s);
}

void add_emit(CLI::App* s, CommandLine& c, Adder& add) {
  const std::vector<std::string> stages = {"ast",  "graph", "gradient",  "jvp",    "hvp", "probe",
                                           "step", "plan",  "statement", "device", "tex", "dot"};
  add.file(s);
  add.sizes(s);
  add.derivatives(s);
  add.by(s);
  s->add_option("--stage", c.stage, "what to print")->required()->check(CLI::IsMember(stages));
  s->add_option("--after", c.after, "print after this pass: derive, fold, find, …");
  add.model(s);
  add.targets(s, "for statement, device, and a plan on a GPU: the instruction set");
  add.progress(s);
}

void add_report(CLI::App* s, Adder& add) {
  add.file(s);
  add.sizes(s);
  add.derivatives(s);
  add.by(s);
  add.out(s, "-o,--out", "file to write; default: standard output", "FILE");
  add.model(s);
  add.run_time_sizes(s, "for numbers beside formulas, a size known when it runs: --size T=512");
}

void add_run(CLI::App* s, CommandLine& c, Adder& add) {
  add.file(s);
  add.sizes(s);
  add.by(s);
  add.model(s, "which model; needed where the file has several");
  s->add_option("--in", c.inputs,
                "an input or parameter: NAME=A.npy or NAME=F.safetensors; NAME=0.5 where it has no "
                "dimensions")
      ->type_name("NAME=FILE")
      ->allow_extra_args(false);
  s->add_option("--weights", c.weights,
                "parameters from a safetensors file, an index of several, or their folder")
      ->type_name("FILE")
      ->check(kNotEmpty);
  s->add_flag("--init-missing", c.may_miss, "initialise parameters that --weights lacks");
  add.seed(s, "of the parameters that are not given");
  add.out(s, "-o,--out", "folder of the results; default: this one", "FOLDER");
  s->add_flag("--gradient", c.gradient, "also the gradients of parameters and real inputs");
  add.files(s, "--cotangent", c.cotangents, "of an output: OUT=A.npy; a scalar's is 1");
  s->add_flag("--jvp", c.jvp, "also the outputs' tangents, tOUT");
  s->add_flag("--hvp", c.hvp,
              "also products of the Hessian of the first scalar output, hNAME of parameters and "
              "real inputs");
  add.files(s, "--tangent", c.tangents,
            "of a parameter or input, for --jvp and --hvp: NAME=A.npy; others are 0");
  add.names(s, "--probe", c.probes, "also these probes of the model: map");
  add.names(s, "--step", c.steps,
            "also update these parameters, and write them and state.NAME.STATE: wq or attn; "
            "the update's scalars are --in lr=0.1, gradients --in dNAME=A.npy or the model's");
  s->add_flag("--reference", c.reference, "by the float64 evaluator instead of kernels");
  s->add_flag("--trace", c.trace,
              "print what each kernel of the call takes: time, memory moved, operations");
  add.device(s);
  add.threads(s, "threads of the kernels; default: one per processor");
  add.compiling(s);
}

void add_bench(CLI::App* s, CommandLine& c, Adder& add) {
  add.file(s);
  add.sizes(s);
  add.model(s, "which model; needed where the file has several");
  add.run_time_sizes(s, "a size known when it runs: --size T=512");
  add.seed(s, "of the random data");
  add.device(s);
  add.threads(s, "threads of the kernels; default: 1");
  s->add_option(
       "--seconds", c.seconds,
       "how long to call it, at least once; default: 1, and 10 calls where they take less than 20")
      ->check(CLI::Range(0.0, 1e6));
  s->add_flag("--json", c.json, "print the figures as JSON, in seconds, operations and bytes");
  add.compiling(s);
}

void add_fmt(CLI::App* s, CommandLine& c) {
  s->add_option("FILE", c.files, "the .attn files; -: standard input")->required();
  s->add_flag("-w,--in-place", c.in_place, "write the files; print nothing");
  s->add_flag("--check", c.check, "say which files are in another layout; print nothing");
  s->add_flag("--diff", c.diff, "print what would change, by the program `diff`");
}

// The option or the word that no command takes.
std::string describe_extra(const CLI::App& app, const std::string& fallback) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const std::vector<std::string> extra = app.remaining(true);
  if (chosen.empty() || extra.empty()) return fallback;
  const std::string word = extra[0].substr(0, extra[0].find('='));
  const CLI::App& command = *chosen[0];
  if (word.empty() || word[0] != '-')
    return fmt::format("{}: `{}` is one word too many", command.get_name(), word);
  std::vector<std::string> known;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  const std::string near = nearest(word, known);
  return fmt::format("{}: there is no option `{}`{}", command.get_name(), extra[0],
                     !near.empty()      ? fmt::format("; did you mean `{}`?", near)
                     : word == "--size" ? std::string("; -D SIZE=n sets a size when compiling")
                                        : std::string());
}

}  // namespace

std::unique_ptr<CLI::App> make_command_line(CommandLine& c) {
  auto app = std::make_unique<CLI::App>(
      "attnc compiles attention blocks and models, written as formulas, to linkable kernels.",
      "attnc");
  app->set_version_flag("--version", "attnc " ATTN_VERSION);
  app->require_subcommand(1);
  app->footer(kFooter);
  Adder add(c);
  add_build(app->add_subcommand("build", "write header, tables and archive"), c, add);
  add_check(app->add_subcommand("check", "find errors; writes nothing"), add);
  add_emit(app->add_subcommand("emit", "print a stage of the compilation"), c, add);
  add_report(app->add_subcommand("report",
                                 "explain a model on one page: formulas, derivation, costs, plan"),
             add);
  add_run(app->add_subcommand("run", "compile for this machine and call the model"), c, add);
  add_bench(app->add_subcommand("bench", "time every kernel of a model on this machine"), c, add);
  add_fmt(app->add_subcommand("fmt", "print the file in the canonical layout"), c);
  CLI::App* doc = app->add_subcommand("doc", "print what a file declares, as Markdown");
  doc->add_option("FILE", c.file, "the .attn file; std or std.norm: of the library")->required();
  for (const auto& [name, text] : kFooters) app->get_subcommand(name)->footer(text);
  return app;
}

std::string first_word_complaint(const CLI::App& app, std::vector<std::string>& words) {
  std::vector<std::string> commands;
  for (const CLI::App* s : app.get_subcommands({})) commands.push_back(s->get_name());
  if (words.empty())
    return fmt::format("a command is required: there are {}", fmt::join(commands, ", "));
  if (words[0] == "help") {
    words.erase(words.begin());
    words.resize(std::min<size_t>(words.size(), 1));
    words.emplace_back("--help");
  }
  const std::string& word = words[0];
  if (word[0] == '-') {
    const std::vector<std::string> options = {"--help", "-h", "--version"};
    if (std::find(options.begin(), options.end(), word) != options.end()) return {};
    const std::string near = nearest(word, options);
    return fmt::format("there is no option `{}` in front of the command{}", word,
                       near.empty() ? "" : fmt::format("; did you mean `{}`?", near));
  }
  if (std::find(commands.begin(), commands.end(), word) != commands.end()) return {};
  const std::string near = nearest(word, commands);
  return fmt::format("no command `{}`: {}", word,
                     near.empty() ? fmt::format("there are {}", fmt::join(commands, ", "))
                                  : fmt::format("did you mean `{}`?", near));
}

std::string describe(const CLI::App& app, const CLI::ParseError& error) {
  const bool is_extra = error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError);
  return is_extra ? describe_extra(app, error.what()) : error.what();
}

}  // namespace attn::driver
