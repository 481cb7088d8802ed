"""Which domains there are, and what is said of those that cannot be had."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.domains.toy import TOY, install

from crmbench.domains.registry import (
    domain_names,
    load_domain,
    load_generator,
)
from crmbench.errors import InputError


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder on the path in which packages can be installed."""
    monkeypatch.syspath_prepend(str(TOY))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_ours_are_there_though_nothing_is_installed() -> None:
    assert {"sales", "service"} <= set(domain_names())
    assert load_domain("sales").name == "sales"
    assert load_domain("service").task_sets[0].splits == ("test",)


def test_an_installed_package_adds_one(path: Path) -> None:
    assert "toy" not in domain_names()
    install(path)
    assert domain_names() == ("sales", "service", "toy")
    assert load_domain("toy").worlds == ("leads-1", "leads-2")
    assert load_generator("toy")(1, 4).domain == "toy"


def test_a_split_leads_to_its_set() -> None:
    assert load_generator("sales", "standard") == load_generator("sales")
    assert load_generator("sales", "hard") != load_generator("sales")
    with pytest.raises(InputError, match="no split 'dev' of service; expected service/test"):
        load_generator("service", "dev")


def test_a_domain_that_there_is_not_lists_those_that_there_are() -> None:
    with pytest.raises(InputError, match="no domain 'x'; expected sales or service"):
        load_domain("x")


def test_two_packages_with_one_domain_are_both_named(path: Path) -> None:
    install(path, "one", "[crmbench.domains]\ntwice = toy_domain:TOY")
    install(path, "two", "[crmbench.domains]\ntwice = other:DOMAIN")
    with pytest.raises(InputError, match=r"other:DOMAIN and toy_domain:TOY"):
        load_domain("twice")


def test_a_package_that_breaks_is_named_with_its_error(path: Path) -> None:
    install(path, "gone", "[crmbench.domains]\ngone = no_such_module:X")
    with pytest.raises(InputError, match=r"no_such_module:X\) cannot be loaded: ModuleNotFound"):
        load_domain("gone")


def test_what_is_no_domain_is_told_what_it_lacks(path: Path) -> None:
    install(path, "half", "[crmbench.domains]\nhalf = toy_domain:POLICY")
    with pytest.raises(InputError, match=r"has no name, schema.*AuthoredDomain"):
        load_domain("half")


def test_a_domain_must_bear_the_name_it_is_found_by(path: Path) -> None:
    install(path, "alias", "[crmbench.domains]\nalias = toy_domain:TOY")
    with pytest.raises(InputError, match="calls itself 'toy'"):
        load_domain("alias")
