// What the words and numbers of the page mean. Scores are explained by the metrics' own descriptions.

import * as api from "./api.js";
import { complain, h } from "./dom.js";
import { on } from "./store.js";

const WORDS = [
  ["block", "Block", "A named group of latents. In a contrastive method the salient block should hold what only targets have, the common block what targets and background share; in a class-supervised method the class block holds who or what it is, the content block all else."],
  ["latent", "Latent", "One number of a sample's code. A slider moves it between the values that 98 % of the samples have (1 % are below, 1 % above). The orange bar is its effect: the root mean square of what changes in the decoded sample from one end to the other, beside the largest."],
  ["reconstruction", "Reconstruction", "What the model decodes from the codes of a sample. What it lacks is in no block."],
  ["counterpart", "Counterpart", "The sample decoded with one block at its neutral value (0, or the reference that the method has learned). Without the salient block a target becomes its background counterpart."],
  ["difference", "Difference", "Counterpart minus reconstruction: what the removed block adds or takes away. Pixels are from 0 (black) to 1 (white), averaged over the colours; features are counted in their standard deviation over these samples. Smaller changes than the threshold are left out. With a single block it is reconstruction minus original."],
  ["neighbours", "Distance, nearest", "The Euclidean distance between two samples' codes of one block. Neighbours in a block are alike in what the block holds; 0 is the same code."],
  ["swap", "Swap", "A sample decoded with a block of another one. Where the blocks are disentangled, a row of the grid keeps one thing and a column the other."],
  ["between", "Between four", "Codes bilinear between those of A (upper left), B, C and D (lower right); the percentages are the weights of the four. With “the block”, all other blocks stay those of A."],
  ["prior", "Prior, near the data", "The prior is how the method assumes codes to be distributed. In many methods codes of real samples fill only a corner of it; “near the data” draws codes with the mean and the covariance of those of real samples."],
  ["t-SNE", "t-SNE and PCA", "Two ways to show the codes of a block in a plane. PCA takes the two directions in which they vary most: distances are true, but what varies less is not seen. t-SNE keeps neighbours together: groups are real, but their distances and sizes mean little. Axes of t-SNE have no unit."],
  ["interval", "From … to", "The 95 % interval of a score: over resamples of the scored samples it lies within. If the intervals of two runs overlap, their difference may be chance."],
  ["term", "Term", "A term of the method's objective, as its mean over each epoch: stage, player whose parameters it updates, and name. Terms of different methods can have different units."],
];

export function startWords(view) {
  on("view", (name, word) => name === "words" && open(view, word));
  on("word", (word) => open(view, word));
}

let built = null;

async function open(view, word) {
  built ??= build(view).catch(complain);
  await built;
  const entry = word && document.getElementById(`word-${word}`);
  for (const one of view.querySelectorAll(".sought")) one.classList.remove("sought");
  if (!entry) return;
  entry.classList.add("sought");
  entry.scrollIntoView({ block: "center" });
  entry.focus({ preventScroll: true });
}

async function build(view) {
  const { meanings } = await api.json("/api/scores");
  const metrics = new Map(Object.values(meanings).map((one) => [one.metric, one.words]));
  const entry = (id, title, text) => h("div", { id: `word-${id}`, class: "word", tabindex: "-1" }, h("dt", {}, title), h("dd", {}, text));
  view.replaceChildren(h("h1", {}, "Words"),
    h("dl", { class: "card words" }, WORDS.map(([id, title, text]) => entry(id, title, text))),
    h("h2", {}, "Scores"),
    metrics.size
      ? h("dl", { class: "card words" }, [...metrics].map(([metric, text]) => entry(`score-${metric}`, metric, text)))
      : h("p", { class: "empty" }, "No run has scores yet."));
}
