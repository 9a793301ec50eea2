#!/usr/bin/env bash
# The report of the README's model in a real browser, where there is one: its console stays silent.
source "$(dirname "$0")/lib.sh" "$@"

browser=""
for name in chromium chromium-browser google-chrome; do
  [[ -z $browser ]] && browser="$(command -v "$name" || true)"
done
if [[ -z $browser ]]; then
  printf 'skipped: there is no browser\n'
  exit 77
fi

open_page() {  # open_page FILE: $output is what the page says on the console.
  output="$(timeout 100 "$browser" --headless=new --no-sandbox --disable-gpu --enable-logging=stderr \
    --user-data-dir="$scratch/profile" --window-size=1280,1800 --screenshot="$scratch/page.png" \
    "file://$1" 2>&1 </dev/null)" || fail "the browser fails on $1"$'\n'"$output"
  output="$(grep CONSOLE <<<"$output" || true)"
}

printf '<script>console.error("heard")</script>' >"$scratch/loud.html"
open_page "$scratch/loud.html"
expect_text heard
expect 0 "$build/bin/attnc" report "$root/examples/attention/attention.attn" -o "$scratch/report.html"
open_page "$scratch/report.html"
[[ -z $output ]] || fail "on the console:"$'\n'"$output"
[[ -s $scratch/page.png ]] || fail "no picture of the page"
finish
