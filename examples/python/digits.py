"""Trains examples/digits/digits.attn on four fifths of the digits: python digits.py [FOLDER_OF_DIGITS]"""
import pathlib
import sys

import attn
import numpy as np

folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "../digits")
images, labels = np.load(folder / "images.npy"), np.load(folder / "labels.npy")
m = attn.compile(folder / "digits.attn", model="digits")
m.init(seed=1)
random = np.random.default_rng(1)
held, learned = np.split(random.permutation(len(labels)), [len(labels) // 5])
for epoch in range(30):
    for batch in np.array_split(random.permutation(learned), len(learned) // 32):
        noise = 0.2 * random.standard_normal(images[batch].shape, np.float32)
        m.forward(images[batch] + noise, labels[batch])
        m.backward()
        m.step(lr=3e-3 * (1 - epoch / 30))
logit = m(images[held], labels[held]).logit
print(f"accuracy on {len(held)} held-out digits: {100 * np.mean(logit.argmax(1) == labels[held]):.2f} %")
