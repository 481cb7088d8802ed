"""GRPO with TRL on tasks of sales: the model calls the CRM's tools, and `reply` for the user.

    pip install crmbench trl
    python examples/train_trl.py Qwen/Qwen3-0.6B

Needs PyTorch and a GPU; what it hands to TRL is tested without them.
"""

import sys

from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from crmbench.integrations.trl import environment_class, rows
from crmbench.training.tasks import TaskPool

if __name__ == "__main__":
    pool = TaskPool.made("sales", "train", seed=0, size=400)
    trainer = GRPOTrainer(
        model=sys.argv[1],
        reward_funcs=[],  # the environment's get_reward() is the reward
        args=GRPOConfig("grpo-sales", num_generations=8, max_tool_calling_iterations=40),
        train_dataset=Dataset.from_list(rows(pool)),
        environment_factory=environment_class(pool),
    )
    trainer.train()
