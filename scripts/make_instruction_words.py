"""Train the tokenizer of instructions of policy_node, data/instructions.json.

    python scripts/make_instruction_words.py

Byte-pair encoding over bytes (library `tokenizers`), on the descriptions of the twenty rules and of
the sampled locks: it encodes any text, and these in few tokens. The result is deterministic.
Checkpoints depend on the token ids: after a change, every policy with language must be trained
again. If a description changes, FORMER therefore keeps the one that was used for the training.
"""

import os
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from policy_node.configs_vla import SHIPPED_TOKENS
from rulesafe_core.files import write_atomically
from rulesafe_locks.lock_files import VARIABLE
from rulesafe_locks.lock_sets import rule_sets
from rulesafe_locks.rules import load_rule

OUTPUT = Path(__file__).parents[1] / "src/policy_node/policy_node/data/instructions.json"

FORMER = {
    "rule_004": "Open the handle first, since a closed handle keeps the closed knob from turning. "
    "Then open the knob: the door can be pulled while both are open.",
    "rule_014": "Open the knob first, since a closed knob keeps the closed handle from turning. "
    "Open the handle, then close the knob: the door can be pulled while the knob is closed and the "
    "handle open.",
}
"""Rule -> the description with which the tokenizer was trained, if it has changed since then."""


def descriptions() -> list[str]:
    """Return the unique descriptions in alphabetical order."""
    os.environ.pop(VARIABLE, None)  # without custom locks
    rules = {rule for name in ("twenty", "sampled") for rule in rule_sets()[name]}
    return sorted({FORMER.get(rule) or load_rule(rule).description for rule in rules})


def train(texts: list[str]) -> Tokenizer:
    """Return a tokenizer: id 0 is padding, ids 1 to 256 are the bytes."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.ByteLevel(), pre_tokenizers.Digits(individual_digits=True)]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=SHIPPED_TOKENS,
        special_tokens=["[padding]"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def main() -> None:
    texts = descriptions()
    tokenizer = train(texts)
    write_atomically(OUTPUT, tokenizer.to_str(pretty=True).encode())
    lengths = [len(tokenizer.encode(text).ids) for text in texts]
    print(
        f"{OUTPUT.name}: {tokenizer.get_vocab_size()} pieces; {len(texts)} descriptions, ", end=""
    )
    print(f"{sum(lengths) / len(lengths):.0f} pieces on average, {max(lengths)} at most")


if __name__ == "__main__":
    main()
