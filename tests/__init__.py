"""What every process of the tests is told before torch and huggingface_hub are imported."""

import os

# Two workers share two cores, and a thread each is quicker than two; set it to 2 to test with two threads.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")  # no test may depend on a network
