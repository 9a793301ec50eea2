// attnc: the command line. See README.md; scripts rely on commands, options and exit statuses.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>

#include "compiler/driver/commands.h"
#include "compiler/driver/front.h"
#include "compiler/target/target.h"

namespace {

using namespace attn;

// Statuses of the process.
enum { kOk = 0, kSource = 1, kUsage = 2, kSystem = 3, kLimit = 4, kRefused = 5, kInternal = 70 };

int guarded(const std::function<int()>& work) {
  try {
    return work();
  } catch (const driver::UsageError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kUsage;
  } catch (const driver::SystemError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kSystem;
  } catch (const LimitError& e) {
    driver::say(fmt::format("attnc: limit exceeded: {}\n", e.what()));
    return kLimit;
  } catch (const driver::RefusedError& e) {
    driver::say(fmt::format("attnc: {}\n", e.what()));
    return kRefused;
  } catch (const std::exception& e) {
    driver::say(fmt::format(
        "attnc: internal error: {}\nThis is a defect of attnc, not of your program. Please "
        "report it with the .attn file.\n",
        e.what()));
    return kInternal;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A closed pipe on standard output is an error of writing, not a death.
  std::signal(SIGPIPE, SIG_IGN);
  // So is a file that grows beyond a quota.
  std::signal(SIGXFSZ, SIG_IGN);
  CLI::App app{
      "attnc compiles attention blocks and models, written as formulas, to linkable kernels."};
  app.set_version_flag("--version", "attnc " ATTN_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Examples:\n  attnc check model.attn\n  attnc build model.attn -o generated\n"
      "  attnc emit model.attn --stage=gradient\n  attnc run model.attn --in x=x.npy --out "
      "results");
  driver::CommandLine c;
  auto file = [&](CLI::App* s) { s->add_option("FILE", c.file, "the .attn file")->required(); };
  auto sizes = [&](CLI::App* s) {
    // One a flag: what follows may be the file.
    s->add_option("-D", c.sizes, "a size known when compiling: -D D=256")
        ->type_name("SIZE=n")
        ->allow_extra_args(false);
  };

  auto derivatives = [&](CLI::App* s) {
    s->add_option(
         "--derive", c.derive,
         "also of models without `train`: gradient; for all: jvp (Jacobian-vector "
         "product), hvp (Hessian-vector product of the first scalar output, where there is one)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(CLI::IsMember({"gradient", "jvp", "hvp"}));
  };
  auto by = [&](CLI::App* s) {
    s->add_option("--wrt", c.by,
                  "derivatives with respect to these parameters and inputs only: wq or attn")
        ->type_name("NAME,...")
        ->delimiter(',')
        ->allow_extra_args(false);
  };
  auto compiling = [&](CLI::App* s) {
    s->add_flag_callback(
        "--no-cache", [&c] { c.cache = false; }, "compile every kernel anew");
    s->add_option("--progress", c.progress, "auto, on or off")
        ->check(CLI::IsMember({"auto", "on", "off"}));
  };

  CLI::App* build = app.add_subcommand("build", "write header, tables and archive");
  file(build);
  sizes(build);
  derivatives(build);
  by(build);
  build->add_option("-o,--out-dir", c.out, "folder of the results")->default_str("generated");
  build->add_option("-n,--name", c.name, "stem of the results' names; default: the file's");
  build
      ->add_option(
          "-t,--target", c.targets,
          fmt::format("host, or {}; default: all of these", fmt::join(attn::target::names(), ", ")))
      ->delimiter(',');
  build->add_option("-j,--jobs", c.jobs, "kernels compiled at a time; default: one per processor");
  compiling(build);

  CLI::App* check = app.add_subcommand("check", "find errors; writes nothing");
  file(check);
  sizes(check);
  derivatives(check);
  by(check);

  CLI::App* emit = app.add_subcommand("emit", "print a stage of the compilation");
  file(emit);
  sizes(emit);
  derivatives(emit);
  by(emit);
  emit->add_option("--stage", c.stage,
                   "ast, graph, gradient, jvp, hvp, probe, step, plan, statement, tex or dot")
      ->required()
      ->check(CLI::IsMember({"ast", "graph", "gradient", "jvp", "hvp", "probe", "step", "plan",
                             "statement", "tex", "dot"}));
  emit->add_option("--after", c.after, "print after this pass: derive, fold, find, …");
  emit->add_option("--model", c.model, "only this model");
  emit->add_option("-t,--target", c.targets, "for statement: the instruction set")->delimiter(',');

  CLI::App* report = app.add_subcommand(
      "report", "explain a model on one page: formulas, derivation, costs, plan");
  file(report);
  sizes(report);
  derivatives(report);
  by(report);
  report->add_option("-o,--out", c.out, "file to write; default: standard output");
  report->add_option("--model", c.model, "only this model");
  report
      ->add_option("--size", c.run_time_sizes,
                   "for numbers beside formulas, a size known when it runs: --size T=512")
      ->type_name("SIZE=n")
      ->allow_extra_args(false);
  report->footer(
      "-D sizes are built in and may change the plan; --size only computes numbers.\n"
      "Examples:\n  attnc report model.attn -o model.html\n"
      "  attnc report model.attn --size B=8 --size T=1024 > model.html");

  CLI::App* run = app.add_subcommand("run", "compile for this machine and call the model");
  file(run);
  sizes(run);
  by(run);
  run->add_option("--model", c.model, "which model; needed where the file has several");
  run->add_option("--in", c.inputs, "an input or parameter: NAME=A.npy or NAME=F.safetensors")
      ->allow_extra_args(false);
  run->add_option("--weights", c.weights,
                  "parameters from a safetensors file, an index of several, or their folder");
  run->add_flag("--init-missing", c.may_miss, "initialise parameters that --weights lacks");
  run->add_option("--seed", c.seed, "of the parameters that are not given");
  run->add_option("--out", c.out, "folder of the results")->default_str(".");
  run->add_flag("--gradient", c.gradient, "also the gradients of parameters and real inputs");
  run->add_option("--cotangent", c.cotangents, "of an output: OUT=A.npy; a scalar's is 1")
      ->allow_extra_args(false);
  run->add_flag("--jvp", c.jvp, "also the outputs' tangents, tOUT");
  run->add_flag("--hvp", c.hvp,
                "also products of the Hessian of the first scalar output, hNAME of parameters and "
                "real inputs");
  run->add_option("--tangent", c.tangents,
                  "of a parameter or input, for --jvp and --hvp: NAME=A.npy; others are 0")
      ->allow_extra_args(false);
  run->add_option("--probe", c.probes, "also these probes of the model: map")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_option("--step", c.steps,
                  "also update these parameters, and write them and state.NAME.STATE: wq or attn; "
                  "the update's scalars are --in lr=0.1, gradients --in dNAME=A.npy or the model's")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_flag("--reference", c.reference, "by the float64 evaluator instead of kernels");
  run->add_flag("--trace", c.trace,
                "print what each kernel of the call takes: time, memory moved, operations");
  run->add_option("--threads", c.threads, "threads of the kernels; default: one per processor");
  compiling(run);

  CLI::App* bench = app.add_subcommand("bench", "time every kernel of a model on this machine");
  file(bench);
  sizes(bench);
  bench->add_option("--model", c.model, "which model; needed where the file has several");
  bench->add_option("--size", c.run_time_sizes, "a size known when it runs: --size T=512")
      ->type_name("SIZE=n")
      ->allow_extra_args(false);
  bench->add_option("--seed", c.seed, "of the random data");
  bench->add_option("--threads", c.threads, "threads of the kernels; default: 1");
  compiling(bench);
  bench->footer(
      "GF/s counts every multiplication and addition as the plan does, also where a condition "
      "hides "
      "the\npoint; GB/s, what the kernel reads and writes, once each. Both are of the median "
      "call.");

  CLI::App* fmt_command = app.add_subcommand("fmt", "print the file in the canonical layout");
  file(fmt_command);
  fmt_command->add_flag("--check", c.check,
                        "say whether it is in that layout already; print nothing");

  CLI::App* doc = app.add_subcommand("doc", "print what a file declares, as Markdown");
  doc->add_option("FILE", c.file, "the .attn file; std or std.norm: of the library")->required();

  app.failure_message([](const CLI::App*, const CLI::Error& e) {
    return fmt::format("attnc: {}\n`attnc --help` and `attnc COMMAND --help` say what there is.\n",
                       e.what());
  });
  if (argc > 1 && argv[1][0] != '-') {
    std::vector<std::string> commands;
    for (const CLI::App* s : app.get_subcommands({})) commands.push_back(s->get_name());
    if (std::find(commands.begin(), commands.end(), argv[1]) == commands.end()) {
      std::string near = nearest(argv[1], commands);
      driver::say(fmt::format("attnc: no command `{}`: {}\n", argv[1],
                              near.empty() ? fmt::format("there are {}", fmt::join(commands, ", "))
                                           : fmt::format("did you mean `{}`?", near)));
      return kUsage;
    }
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    int status = app.exit(e);
    return status == 0 ? kOk : kUsage;
  }
  return guarded([&]() -> int {
    if (*build) return driver::build(c);
    if (*check) return driver::check(c);
    if (*emit) return driver::emit(c);
    if (*report) return driver::report(c);
    if (*run) return driver::run(c);
    if (*bench) return driver::bench(c);
    if (*doc) return driver::doc(c);
    return driver::format(c);
  });
}
