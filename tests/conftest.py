import sys
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parent / "contract"))
torch.set_num_threads(1)  # the nets of the tests are too small to share out
