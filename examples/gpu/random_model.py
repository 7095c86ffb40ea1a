"""A Llama of about 1.1 billion parameters with random weights: python3 random_model.py FOLDER [--no-weights]

Nothing is downloaded. Its tokenizer knows the words that loadgen writes, each of which is a token, so that prompts have
exactly the length asked for; no token ends an answer, so that answers have it as well. What it says is nonsense, and takes
as long as sense.
"""

import pathlib
import re
import sys

from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, PreTrainedTokenizerFast

VOCABULARY = 32_000
CONTEXT = 8192

folder = sys.argv[1]
source = pathlib.Path(__file__).parents[2] / "workload/src/prompts/words.rs"
known = re.findall(r'" ([a-z]+)"', source.read_text())
if len(known) != len(set(known)) or len(known) < 512:
    sys.exit(f"{source}: the words of prompts were not found")
words = ["<unk>", *known]
words += [f"w{number}" for number in range(len(words), VOCABULARY)]
identities = {word: identity for identity, word in enumerate(words)}
tokenizer = Tokenizer(models.WordLevel(identities, unk_token="<unk>"))
tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", model_max_length=CONTEXT)
fast.chat_template = "{% for message in messages %}{{ message['content'] }} {% endfor %}"
fast.save_pretrained(folder)

config = LlamaConfig(
    architectures=["LlamaForCausalLM"],
    vocab_size=VOCABULARY,
    hidden_size=2048,
    intermediate_size=8192,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=64,
    max_position_embeddings=CONTEXT,
    tie_word_embeddings=False,
    bos_token_id=None,
    eos_token_id=None,
    pad_token_id=0,
    dtype="bfloat16",
)
config.save_pretrained(folder)
if "--no-weights" in sys.argv:
    sys.exit()

import torch  # noqa: E402
from transformers import LlamaForCausalLM  # noqa: E402

torch.manual_seed(1)
torch.set_default_dtype(torch.bfloat16)
with torch.device("cuda"):
    model = LlamaForCausalLM(config)
# Nothing ends an answer but its length.
model.generation_config.eos_token_id = None
model.save_pretrained(folder)
print(f"{sum(weights.numel() for weights in model.parameters()) / 1e9:.2f} billion parameters in {pathlib.Path(folder)}")
