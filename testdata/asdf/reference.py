"""That Python asdf itself reads what the sound fixtures are said to hold: 6.0.0 all of them, an older release those it wrote."""

import making
import tool
import view
from parts import Fixture
from values import little


def disagreements(fixtures: list[Fixture]) -> list[str]:
    """What is not as Python asdf reads it."""
    problems = []
    for fixture in fixtures:
        if fixture.verdict != "sound" or fixture.unread or fixture.reference:
            continue
        peers = [tool.new(), *[it for it in (tool.mid(), tool.old()) if it.producer == fixture.producer]]
        for peer in peers:
            try:
                agree(peer, fixture)
            except (AssertionError, tool.Refused) as error:
                problems.append(f"{peer.producer} reads {fixture.path} otherwise: {error}")
    return problems


def agree(peer: tool.Peer, fixture: Fixture) -> None:
    """Its arrays are a part of ours: it shows no masks and no words of integers."""
    found = {it["path"]: it for it in tool.read(peer, fixture.data, fixture.main or "a.asdf")["arrays"]}
    expected = view.arrays(fixture.data, fixture.main)
    assert found.keys() <= expected.keys(), f"arrays {sorted(found)}"
    beside = [path for path in expected.keys() - found.keys() if path.split("/")[-1] not in ("mask", "words")]
    assert not beside, f"without {beside}"
    for path, it in found.items():
        array = expected[path]
        assert it["shape"] == list(array.shape), f"{path} of shape {it['shape']}"
        assert it["values"] == making.sha256(little(array)), f"{path} of other values"
