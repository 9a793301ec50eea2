#include "compiler/report/style.h"

namespace attn::report {

const char* const kStyle = R"css(
:root {
  color-scheme: light dark;
  --page: #fdfdfb; --ink: #1d2129; --soft: #5c6470; --line: #dcdfe4; --panel: #f4f5f2;
  --accent: #2357a6; --with: #8a4b08; --box: #ffffff; --stored: #7d8794;
  --input: #e8eef8; --output: #e4f3e6; --output-line: #3b8a4b; --tile: #fff6dc; --tile-line: #b98900;
  --old: #a0433b; --new: #2f7a43;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #15181d; --ink: #e4e7ec; --soft: #9aa3b0; --line: #323842; --panel: #1d2128;
    --accent: #8db6f5; --with: #e3ab6a; --box: #20252d; --stored: #78828f;
    --input: #1f2b40; --output: #1c3324; --output-line: #67b779; --tile: #38300f; --tile-line: #d0a52c;
    --old: #e2958d; --new: #86cf98;
  }
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; scroll-padding-top: 1rem; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
.page { display: grid; grid-template-columns: 15rem minmax(0, 1fr); max-width: 84rem; margin: 0 auto; }
nav {
  position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto;
  padding: 2.2rem 1rem 2rem 1.5rem; font-size: 0.88rem;
}
nav ul { list-style: none; margin: 0; padding: 0; }
nav li li { padding-left: 0.9rem; }
nav a { color: var(--soft); text-decoration: none; display: block; padding: 0.14rem 0; }
nav a:hover { color: var(--accent); }
nav > ul > li > a { color: var(--ink); font-weight: 600; margin-top: 0.6rem; }
main { padding: 2rem 2rem 5rem; min-width: 0; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 0.3rem; letter-spacing: -0.01em; }
h2 { font-size: 1.5rem; margin: 3.2rem 0 0.4rem; padding-top: 1.2rem; border-top: 2px solid var(--line); }
h3 { font-size: 1.15rem; margin: 2.2rem 0 0.5rem; }
h4 { font-size: 0.95rem; margin: 1.3rem 0 0.3rem; color: var(--soft); font-weight: 600; }
p { margin: 0.5rem 0; max-width: 46rem; }
.soft, .doc { color: var(--soft); }
code, .name { font: 0.88em/1.4 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "Noto Sans Math", math, serif;
  font-size: 1.08em; }
math .w { font-style: italic; }
math .cases { text-align: left; }
.eqs { overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0; }
.eq { display: grid; grid-template-columns: 8.2rem max-content max-content 1fr; gap: 0.45rem;
  align-items: center; padding: 0.25rem 0; }
.eq > :first-child { text-align: right; }
.eq .where { color: var(--soft); font-size: 0.92em; padding: 0 0.6rem 0 1.4rem; }
.eq .more { text-align: right; white-space: nowrap; }
.eq .where::before { content: "where "; font-size: 0.85em; }
.chain { margin: 0.5rem 0 0.5rem 1rem; overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0; }
.chain > div { width: max-content; padding: 0.2rem 0; }
details > summary { cursor: pointer; list-style: none; }
details > summary::-webkit-details-marker { display: none; }
details.fold { border: 1px solid var(--line); border-radius: 8px; margin: 0.7rem 0; background: var(--page); }
details.fold > summary { padding: 0.45rem 0.9rem; font-weight: 600; }
details.fold > summary::before { content: "▸"; color: var(--soft); display: inline-block; width: 1.1em; }
details.fold[open] > summary::before { content: "▾"; }
details.fold[open] > summary { border-bottom: 1px solid var(--line); }
details.fold > .inside { padding: 0.5rem 0.9rem; }
details.fold > summary .soft { font-weight: 400; }
.lines { border: 1px solid var(--line); border-radius: 8px; overflow-x: auto; overflow-y: hidden; }
.lines > details { border-bottom: 1px solid var(--line); min-width: max-content; }
.lines > details:last-child { border-bottom: 0; }
.lines summary { padding: 0.2rem 0.7rem 0.2rem 0; }
.lines summary:hover { background: var(--panel); }
.lines summary .eq { padding: 0.2rem 0; }
.lines .result > summary { box-shadow: inset 3px 0 0 var(--output-line); }
.why { padding: 0.4rem 1rem 0.8rem 1.2rem; background: var(--panel); font-size: 0.93rem; }
.why ul { margin: 0.2rem 0 0.4rem; padding-left: 1.2rem; }
.lines .block { padding: 0.25rem 0.8rem; font-size: 0.85rem; color: var(--soft); background: var(--panel);
  border-bottom: 1px solid var(--line); }
.chip { display: inline-block; font-size: 0.74rem; line-height: 1.5; padding: 0 0.5em; margin-left: 0.3em;
  border-radius: 1em; color: var(--accent); border: 1px solid var(--line); background: var(--panel);
  white-space: nowrap; }
.change { overflow-x: auto; overflow-y: hidden; padding: 0.15rem 0 0.15rem 0.7rem; margin: 0.45rem 0;
  border-left: 3px solid var(--line); }
.change > div { width: max-content; padding: 0.12rem 0; }
.change .sign { display: inline-block; width: 1.3em; font-weight: 700; }
.old { color: var(--soft); } .old .sign { color: var(--old); } .new .sign { color: var(--new); }
.scroll { overflow-x: auto; margin: 0.6rem 0; }
table { border-collapse: collapse; font-size: 0.92rem; }
th, td { text-align: left; padding: 0.28rem 1.1rem 0.28rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
tr.sum td { font-weight: 600; border-bottom: 0; }
.mark { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 3px; vertical-align: -0.05em;
  border: 1.5px solid var(--stored); background: var(--box); margin-right: 0.4em; }
.mark.input { background: var(--input); border-radius: 0.5em; }
.mark.output { background: var(--output); border-color: var(--output-line); }
.mark.tile { background: var(--tile); border-color: var(--tile-line); border-style: dashed; }
.mark.inline { border-style: dotted; }
.legend { display: flex; flex-wrap: wrap; gap: 0.2rem 1.3rem; font-size: 0.85rem; color: var(--soft);
  margin: 0.4rem 0; }
.legend .with { color: var(--with); }
.glance { display: grid; grid-template-columns: repeat(auto-fit, minmax(15.5rem, 1fr)); gap: 0.7rem;
  margin: 1rem 0; }
.glance > div { border: 1px solid var(--line); border-radius: 8px; padding: 0.55rem 0.85rem;
  overflow-x: auto; overflow-y: hidden; }
.glance .soft { font-size: 0.8rem; }
.glance b { display: block; font-size: 1.12rem; font-weight: 600; }
.drawing { overflow: auto; border: 1px solid var(--line); border-radius: 8px; padding: 0.4rem;
  max-height: 46rem; background: var(--page); text-align: center; }
.drawing svg.graph { max-width: 100%; height: auto; }
.full-size:checked ~ .drawing svg.graph { max-width: none; }
svg.graph { font: 12px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
svg .box rect { fill: var(--box); stroke: var(--stored); stroke-width: 1.3; }
svg .box.input rect { fill: var(--input); rx: 14px; }
svg .box.output rect { fill: var(--output); stroke: var(--output-line); stroke-width: 2; }
svg .box.tile rect { fill: var(--tile); stroke: var(--tile-line); stroke-dasharray: 5 3; }
svg .box.inline rect { stroke-dasharray: 1.5 3; }
svg .box.function rect { fill: none; stroke: var(--accent); }
svg .box:hover rect { stroke: var(--accent); stroke-width: 2.4; }
svg text { text-anchor: middle; fill: var(--ink); }
svg .title { font-weight: 600; }
svg .detail { fill: var(--soft); font-size: 11px; }
svg .with { fill: var(--with); font-size: 11px; }
svg .group rect { fill: var(--panel); fill-opacity: 0.75; stroke: var(--line); stroke-width: 1.2; }
svg .group text { text-anchor: start; fill: var(--soft); font-size: 11px; font-weight: 600; }
svg .edge { fill: none; stroke: var(--stored); stroke-width: 1.3; }
svg .edge:hover { stroke: var(--accent); stroke-width: 2.6; }
svg .head { fill: var(--stored); }
footer { color: var(--soft); font-size: 0.85rem; margin-top: 4rem; border-top: 1px solid var(--line);
  padding-top: 0.8rem; }
@media (max-width: 56rem) {
  .page { display: block; }
  nav { position: static; max-height: none; padding: 1rem 1rem 0; }
  nav li li { display: inline-block; padding: 0 0.8rem 0 0; }
  nav ul ul { line-height: 1.4; }
  main { padding: 1rem 1rem 4rem; }
  h1 { font-size: 1.5rem; } h2 { font-size: 1.3rem; }
  .eq { grid-template-columns: max-content max-content max-content 1fr; }
  .drawing { text-align: left; }
}
@page { margin: 1.6cm; }
@media print {
  :root {
    color-scheme: light;
    --page: #fff; --ink: #000; --soft: #444; --line: #bbb; --panel: #fff; --accent: #000;
    --with: #6b3a06; --box: #fff; --stored: #555; --input: #eef2fa; --output: #eaf6ec;
    --output-line: #2c6e3a; --tile: #fff8e4; --tile-line: #8f6b00; --old: #7c2f29; --new: #235c32;
  }
  .page { display: block; max-width: none; }
  nav { display: none; }
  main { padding: 0; }
  body { font-size: 10.5pt; }
  details::details-content { content-visibility: visible; block-size: auto; }
  .drawing { max-height: none; overflow: visible; border: 0; padding: 0; }
  svg.graph { max-width: 100%; max-height: 23cm; width: auto; height: auto; }
  .glance { grid-template-columns: repeat(3, 1fr); }
  .glance > div, .eqs, .lines, .scroll, .change, .chain { overflow: visible; }
  .eq, .change, tr, svg { break-inside: avoid; }
  h2, h3, h4, summary { break-after: avoid; }
}
)css";

}  // namespace attn::report
