"""What the benchmark of training measures is measured; its figures are not judged here."""

from __future__ import annotations

from crmbench.bench import training


def test_speed_and_memory_are_measured_on_real_episodes() -> None:
    speed = training._speed("demo", rounds=1)
    assert speed.steps_per_s > 0
    assert speed.ratio > 1, "a session does more than a bare step"
    assert 3 < speed.steps < 30
    memory = training._memory(40)
    assert memory.episodes >= 40
    text = training.render_training(
        {
            "speed": [{name: getattr(speed, name) for name in speed.__slots__}],
            "scale": {"speedup": 1.9, "loops": 2.0, "ratio": 0.95},
            "memory": None,
        }
    )
    assert "two processes: 1.90 times one" in text
