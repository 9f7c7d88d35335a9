"""The style sheet of the page, for light and dark mode, desktop and phone."""

from __future__ import annotations

CSS = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf7; --card: #ffffff; --ink: #1c2126; --faint: #59626b; --rule: #dedbd3; --link: #0a5a8c;
  --disentangled: #0b6b4f; --partly: #8a5a00; --not: #a4290f; --unknown: #59626b; --code: #f2f0ea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #15181b; --card: #1d2125; --ink: #e8e6e1; --faint: #a3abb3; --rule: #343a40; --link: #7cc4f2;
    --disentangled: #5fd1a8; --partly: #f0bd5b; --not: #ff8f75; --unknown: #a3abb3; --code: #22272c;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; scroll-behavior: smooth; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
}
main, header, footer { max-width: 66rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 3rem; }
h1, h2, h3 { font-family: "Iowan Old Style", "Palatino Linotype", Palatino, Georgia, "Noto Serif", serif; line-height: 1.2;
  overflow-wrap: anywhere; text-wrap: balance; }
h1 { font-size: clamp(1.9rem, 5vw, 2.7rem); margin: 0 0 .4rem; font-weight: 600; letter-spacing: -.01em; }
h2 { font-size: clamp(1.5rem, 4vw, 2rem); margin: 0 0 .3rem; font-weight: 600; }
h3 { font-size: 1.42rem; margin: 3rem 0 .4rem; font-weight: 600; }
h4 { margin: 1.2rem 0 .5rem; }
p { margin: .4rem 0 1rem; max-width: 46rem; }
a { color: var(--link); }
.about, .note, figcaption, footer { color: var(--faint); }
.note, figcaption { font-size: .92rem; }
.run { border-top: 1px solid var(--rule); margin-top: 3.5rem; padding-top: 2.5rem; }
.run:first-of-type { border-top: 0; margin-top: 1rem; padding-top: 1rem; }
.contents { columns: 24rem; column-gap: 2rem; padding-left: 1.2rem; }
.contents li { break-inside: avoid; overflow-wrap: anywhere; }
.verdict { border-left: .35rem solid var(--tone); background: var(--card); border-radius: .3rem; padding: 1rem 1.25rem;
  margin: 1.2rem 0 1.8rem; box-shadow: 0 1px 2px rgb(0 0 0 / .07); }
.verdict strong { display: block; color: var(--tone); font-size: 1.3rem; line-height: 1.3; }
.verdict p { margin: .45rem 0 0; }
.disentangled { --tone: var(--disentangled); } .partly { --tone: var(--partly); } .not { --tone: var(--not); }
.single, .unknown { --tone: var(--unknown); }
.mark { color: var(--tone); font-weight: 700; }
figure { margin: 1rem 0 1.5rem; min-width: 0; }
figcaption { margin-top: .5rem; max-width: 46rem; }
.plate { background: #fff; border: 1px solid var(--rule); border-radius: .4rem; padding: .8rem; width: fit-content;
  max-width: 100%; }
.pair .plate, .many .plate { width: 100%; }
.plate img { display: block; margin: 0 auto; max-width: 100%; height: auto; }
.pair { display: grid; gap: 0 1.25rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 25rem), 1fr));
  align-items: start; }
.sheet { columns: 25rem 2; column-gap: 2.5rem; }
.sheet > div { break-inside: avoid; margin-bottom: 1.2rem; }
.sheet table { width: 100%; }
.many { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 18rem), 1fr)); }
.many figure { margin: 0; }
.scroll, .wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .9rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--rule); }
thead th { color: var(--faint); font-weight: 600; white-space: nowrap; }
.scores { width: 100%; }
.scores thead th { font-size: 1rem; }
.scores th[scope=colgroup] { color: var(--ink); font-size: 1.05rem; }
.scores th[scope=rowgroup] { font-weight: 400; border-bottom: 0; padding: .9rem .9rem 0; font-size: .93rem;
  color: var(--faint); }
.scores th[scope=rowgroup] b { color: var(--ink); font-size: 1.02rem; margin-right: .3rem; }
.scores td { padding-top: .2rem; padding-bottom: .8rem; }
.scores td span { white-space: nowrap; }
.value { font-size: 1.3rem; font-weight: 600; }
.arrow, .faint { color: var(--faint); }
small { display: block; color: var(--faint); font-size: .82rem; }
.overview { font-size: .95rem; }
.overview td, .overview th { white-space: nowrap; }
.overview tbody th { font-weight: 500; }
.settings th { font-weight: 500; color: var(--faint); white-space: nowrap; }
.settings th { width: 10rem; }
.settings td { overflow-wrap: anywhere; }
.settings td, .settings th { padding: .28rem .9rem .28rem 0; font-size: .97rem; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
pre { background: var(--code); border: 1px solid var(--rule); border-radius: .4rem; padding: .9rem 1rem; overflow-x: auto;
  font: .88rem/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: .92em; }
footer { padding-top: 2rem; padding-bottom: 3rem; margin-top: 3rem; border-top: 1px solid var(--rule); font-size: .92rem; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (max-width: 40rem) {
  body { font-size: 1rem; }
  header { padding-top: 1.8rem; }
  .plate { padding: .45rem; }
  .wide img { max-width: max(100%, 46rem); margin: 0; }
  th, td, .scores th[scope=rowgroup] { padding-left: .45rem; padding-right: .45rem; }
  .value { font-size: 1.15rem; }
}
@media print { .run { break-before: page; } .plate, pre { break-inside: avoid; } }
"""
