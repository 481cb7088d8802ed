"""``crmbench paraphrase``: conversations in other words."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from crmbench.cli import options as o
from crmbench.language.counts import counted

if TYPE_CHECKING:
    from crmbench.paraphrase.paraphrase import Paraphrased


def paraphrase(
    file: o.File,
    model: Annotated[
        str, typer.Option(help="openai/NAME, anthropic/NAME, http://HOST/v1#NAME, litellm/NAME, …")
    ],
    out: Annotated[Path, typer.Option("--out", help="The file to write.")],
    cache: Annotated[
        Path | None,
        typer.Option(help="Directory of what models wrote; 'paraphrases' beside --out if left out"),
    ] = None,
    sample: o.Sample = None,
    seed: Annotated[int, typer.Option("--seed", help="What the choice of --sample follows.")] = 0,
    filters: o.Filters = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", min=1, max=10_000, help="Messages at once.")
    ] = 8,
    requests_per_minute: o.RequestsPerMinute = None,
    tokens_per_minute: o.TokensPerMinute = None,
    max_cost: Annotated[
        float | None, typer.Option(min=0.0, help="US dollars; past them no request is made.")
    ] = None,
    quiet: o.Quiet = False,
    as_json: o.AsJson = False,
) -> None:
    """Have a model say what the users say in other words, and keep what loses nothing.

    Every amount, number, date, name, address, file name, id and quotation must still be there,
    and no new one; the words on which a request turns as well. A rewrite that fails goes back to
    the model once; after that the original stays. What the model wrote is kept in --cache: the
    same command again asks for nothing that is there and writes the same file.

    Examples:

      crmbench paraphrase sales/test --model openai/gpt-4.1-mini --sample 50 --out retold.jsonl

      crmbench audit retold.jsonl
    """
    from crmbench.cli.console import progress_bar, remark
    from crmbench.paraphrase.file import ParaphraseOptions, paraphrase_file
    from crmbench.paraphrase.paraphrase import BudgetSpent

    options = ParaphraseOptions(
        file=file,
        model=model,
        out=out,
        cache=cache or out.parent / "paraphrases",
        sample=sample,
        seed=seed,
        filters=tuple(filters or ()),
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        max_cost=max_cost,
    )
    try:
        with progress_bar(f"{model} on {Path(file).name}", quiet or as_json) as progress:
            done = paraphrase_file(options, progress)
    except BudgetSpent as error:
        remark(f"Stopped early: {error}. {_GO_ON}")
        raise typer.Exit(1) from error
    except KeyboardInterrupt:
        remark(_GO_ON)
        raise
    _tell(done, out, as_json)


_GO_ON = "What was written is kept; the same command goes on from there."


def _tell(done: Paraphrased, out: Path, as_json: bool) -> None:
    from crmbench.cli.console import print_json, remark, say

    endings, usage = done.endings, done.usage
    failed = [each for each in done.rewordings if each.ending == "lost a fact"]
    if as_json:
        figures: dict[str, Any] = {
            "messages": len(done.rewordings),
            "rewritten": endings["rewritten"],
            "kept_because_a_fact_was_lost": endings["lost a fact"],
            "kept_because_like_another": endings["like another"],
            "second_tries": sum(each.tries > 1 for each in done.rewordings),
            "model_calls": usage.model_calls,
            "tokens": usage.total_tokens,
            "cost": usage.cost,
            "kept": [{"message": e.said.text, "complaints": list(e.complaints)} for e in failed],
            "out": str(out),
        }
        print_json(figures)
        return
    say(
        f"{endings['rewritten']:,} of {counted(len(done.rewordings), 'message')} rewritten in "
        f"{out}; "
        f"{endings['lost a fact']:,} kept as they were because a rewrite lost or added something, "
        f"{endings['like another']:,} because it sounded like another"
    )
    cost = f", ${usage.cost:.2f}" if usage.cost is not None else ""
    say(f"{counted(usage.model_calls, 'call')}, {usage.total_tokens:,} tokens{cost}")
    for each in failed[:5]:
        remark(f"  kept: {each.said.text[:70]!r}: {'; '.join(each.complaints[:3])}")
    say(f"Next: crmbench audit {out}")


def register(app: typer.Typer) -> None:
    app.command("paraphrase")(paraphrase)
