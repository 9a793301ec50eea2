#!/usr/bin/env bash
# tools/setup.sh where all is there, and where something is missing and cannot be had.
source "$(dirname "$0")/lib.sh" "$@"

# Here all is there, or this build would not be.
begin="$(date +%s%N)"
expect 0 "$root/tools/setup.sh"
took=$((($(date +%s%N) - begin) / 1000000))
[[ -z $output ]] || fail "not silent: $output"
# 0.3 s are promised on an idle machine; tests run side by side.
((took < 1000)) || fail "took $took ms with nothing to do"

# A checkout without Halide on a machine without a package index, in a folder with a space, called
# from elsewhere.
copy="$scratch/a checkout"
mkdir -p "$copy/tools" "$scratch/bin"
cp "$root/tools/setup.sh" "$copy/tools/"
cat >"$scratch/bin/python3" <<'END'
#!/bin/sh
case "$*" in *--version) exit 0 ;; *) exit 1 ;; esac
END
chmod +x "$scratch/bin/python3"
expect 1 env -C / PATH="$scratch/bin:$PATH" "$copy/tools/setup.sh"
expect_text "halide==21.0.0"
[[ -z "$(ls -A "$copy/.deps")" ]] || fail "left something behind: $(ls -A "$copy/.deps")"

# A machine without pip whose packages cannot be installed either.
printf '#!/bin/sh\nexit 1\n' | tee "$scratch/bin/python3" "$scratch/bin/apt-get" >"$scratch/bin/sudo"
chmod +x "$scratch"/bin/*
expect 1 env -C / PATH="$scratch/bin:$PATH" "$copy/tools/setup.sh"
expect_text "python3 python3-pip"
expect_text "apt-get update && apt-get install -y python3 python3-pip"

# A CMake that is too old is as good as none.
printf '#!/bin/sh\necho cmake version 3.18.4\n' >"$scratch/bin/cmake"
chmod +x "$scratch/bin/cmake"
expect 1 env -C / PATH="$scratch/bin:$PATH" "$copy/tools/setup.sh"
expect_text "cmake python3 python3-pip"
finish
