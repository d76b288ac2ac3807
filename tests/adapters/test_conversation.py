"""How the place of a source is told."""

import pytest

from adapters.conversation import Citation


@pytest.mark.parametrize(
    ("title", "page", "path", "place"),
    [
        ("API keys", None, ("API keys", "Limits"), "Limits"),
        ("Badge printer", None, ("Badge printer",), ""),
        ("Travel policy", 2, ("Travel policy",), "p. 2"),
        ("Travel policy", 2, ("Travel policy", "Taxis"), "p. 2 · Taxis"),
        ("", None, (), ""),
    ],
)
def test_the_title_is_not_said_again_as_its_place(
    title: str, page: int | None, path: tuple[str, ...], place: str
) -> None:
    cited = Citation.model_construct(
        title=title, name="a.md", page=page, page_end=None, heading_path=path
    )  # fmt: skip
    assert cited.place() == place
