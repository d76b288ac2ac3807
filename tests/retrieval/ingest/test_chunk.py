"""Where chunks begin and end, kind of text by kind of text."""

import pytest

from retrieval.documents import Section, chunk_id
from retrieval.ingest.chunk import chunk
from retrieval.ingest.tokens import estimate
from tests.retrieval.ingest.parsed import chunks_of, meta_of, parsed_of, section, words


def texts(*sections: Section | str, **limits: int) -> list[str]:
    return [c.text for c in chunks_of(*sections, **limits)]


# -- headings ------------------------------------------------------------------------------


def test_a_short_document_is_one_chunk_as_it_stands() -> None:
    text = (
        "Keys last **90 days**.\nThen they expire.\n\n- one\n- two\n\nSee [the guide](https://x.example/a)."
    )
    (only,) = chunks_of(text)
    assert only.text == text
    assert (only.ordinal, only.kind, only.heading_path) == (0, "passage", ())
    assert only.chunk_id == chunk_id("v1", 0)


def test_headings_inside_a_section_extend_its_path() -> None:
    found = chunks_of(
        section(
            "Intro.\n\n## Keys\n\nRotate.\n\n### Old `keys` ###\n\nStay.\n\n## [Limits](x)\n\n600.", "Guide"
        )
    )
    assert [(c.heading_path, c.text) for c in found] == [
        (("Guide",), "Intro."),
        (("Guide", "Keys"), "Rotate."),
        (("Guide", "Keys", "Old keys"), "Stay."),
        (("Guide", "Limits"), "600."),
    ]


def test_underlined_headings_count() -> None:
    found = chunks_of("Guide\n=====\n\nHello.\n\nKeys\n----\nRotate.")
    assert [(c.heading_path, c.text) for c in found] == [
        (("Guide",), "Hello."),
        (("Guide", "Keys"), "Rotate."),
    ]


@pytest.mark.parametrize("line", ["#hashtag first", "####### seven", "# " + "x" * 400, "#", "\\# escaped"])
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    found = chunks_of(line + "\nand more")
    assert "".join(c.text for c in found).replace("\n", "") == line + "and more"
    assert all(c.heading_path == () for c in found)


def test_a_section_that_repeats_its_headings_in_its_text_has_them_once() -> None:
    (only,) = chunks_of(section("# Guide\n\n## Keys\n\nRotate.", "Guide", "Keys"))
    assert (only.heading_path, only.text) == (("Guide", "Keys"), "Rotate.")


def test_a_heading_without_text_is_text_under_the_heading_above_it() -> None:
    found = chunks_of("# Talk\n\n## Agenda\n\n## Thank you\n\n## Contact\n\nMail us.\n\n# Questions?")
    assert [(c.heading_path, c.text) for c in found] == [
        (("Talk",), "## Agenda\n\n## Thank you"),
        (("Talk", "Contact"), "Mail us."),
        ((), "# Questions?"),
    ]


def test_a_parser_that_writes_a_bare_heading_as_text_gives_the_same() -> None:
    (only,) = chunks_of(section("# Thank you", "Thank you", page=7))
    assert (only.text, only.heading_path, only.page) == ("# Thank you", (), 7)


def test_a_heading_in_code_is_code() -> None:
    (only,) = chunks_of("```sh\n# not a heading\nls\n```")
    assert only.heading_path == ()
    assert only.text == "```sh\n# not a heading\nls\n```"


def test_very_deep_paths_keep_the_innermost_headings() -> None:
    (only,) = chunks_of(section("text", *(f"level {i}" for i in range(20))))
    assert only.heading_path == tuple(f"level {i}" for i in range(8, 20))


# -- packing -------------------------------------------------------------------------------


def test_paragraphs_are_not_cut_where_they_fit() -> None:
    paragraphs = [words(100, i * 100) for i in range(8)]
    assert texts("\n\n".join(paragraphs)) == [
        "\n\n".join(p) for p in (paragraphs[:3], paragraphs[3:6], paragraphs[6:])
    ]


def test_a_short_rest_is_not_left_alone() -> None:
    whole = words(340) + "\n\n" + words(20, 340)
    assert texts(whole) == [whole]


def test_a_short_start_is_not_left_alone() -> None:
    whole = words(30) + "\n\n" + words(345, 30)
    assert texts(whole) == [whole]


def test_the_rest_of_a_long_paragraph_is_shared_evenly() -> None:
    sentences = [words(18, i * 18) + "." for i in range(21)]  # about 400 tokens
    first, second = chunks_of(" ".join(sentences))
    assert abs(estimate(first.text) - estimate(second.text)) < 40
    assert f"{first.text} {second.text}" == " ".join(sentences)


def test_neighbours_under_one_heading_are_merged_across_pages() -> None:
    found = chunks_of(*(section(words(20, i * 20), "Keys", page=i + 3) for i in range(4)))
    assert [(c.page, c.page_end, c.heading_path) for c in found] == [(3, 6, ("Keys",))]


def test_neighbours_under_different_headings_are_not() -> None:
    found = chunks_of(section("Yes.", "Can I?"), section("No.", "Must I?"))
    assert [(c.heading_path, c.text) for c in found] == [(("Can I?",), "Yes."), (("Must I?",), "No.")]


def test_a_paragraph_that_runs_over_a_page_break_stays_one() -> None:
    (only,) = chunks_of(section("The key is", page=1), section("valid for 90 days.", page=2))
    assert only.text == "The key is\nvalid for 90 days."
    assert (only.page, only.page_end) == (1, 2)


def test_pages_are_those_of_the_text_in_the_chunk() -> None:
    found = chunks_of(*(section(words(150, i * 150), page=i + 1) for i in range(5)))
    assert [(c.page, c.page_end) for c in found] == [(1, 2), (3, 4), (5, 5)]


def test_what_introduces_a_list_stays_with_it() -> None:
    items = "\n".join(f"- {words(20, 1000 + i * 20)}" for i in range(10))
    found = texts(f"{words(190)}\n\nThe following keys exist:\n\n{items}")
    assert found[0] == words(190)
    assert found[1] == f"The following keys exist:\n\n{items}"


# -- lists ---------------------------------------------------------------------------------


def test_a_long_list_is_cut_between_items() -> None:
    items = [f"{i}. {words(30, i * 30)}\n   {words(10, 5000 + i * 10)}" for i in range(1, 30)]
    found = texts("\n".join(items))
    assert len(found) > 2
    assert all(text.split(". ")[0].isdigit() for text in found)
    assert "\n".join(found) == "\n".join(items)


def test_nested_items_stay_with_theirs_where_they_fit() -> None:
    items = [
        f"- {words(60, i * 200)}\n  - {words(40, i * 200 + 60)}\n  - {words(40, i * 200 + 100)}"
        for i in range(6)
    ]
    found = texts("\n".join(items))
    assert all(text.startswith("- ") for text in found)
    assert "\n".join(found) == "\n".join(items)


# -- code ----------------------------------------------------------------------------------


def functions(count: int) -> list[str]:
    return [f"def f{i}(a, b):\n    x = a + {i}\n\n    return x * b" for i in range(count)]


def test_code_that_fits_is_not_cut() -> None:
    code = "```python\n" + "\n\n\n".join(functions(9)) + "\n```"
    assert estimate(code) <= 350
    before, found = words(300), texts(f"{words(300)}\n\n{code}\n\nAfter.")
    assert found == [before, f"{code}\n\nAfter."]


def test_long_code_is_cut_at_blank_lines_with_its_fence_repeated() -> None:
    body = "\n\n\n".join(functions(40))
    found = texts(f"~~~~python title=x\n{body}\n~~~~")
    assert len(found) > 2
    for text in found:
        first, *_, last = text.split("\n")
        assert (first, last) == ("~~~~python title=x", "~~~~")
    inner = [text.removeprefix("~~~~python title=x\n").removesuffix("\n~~~~") for text in found]
    assert all(part.startswith(("def", "    return")) for part in inner)
    assert "".join(inner).replace("\n", "") == body.replace("\n", "")


def test_code_keeps_its_indentation_at_the_start_of_a_chunk() -> None:
    body = "\n".join(f"    line {i} = {i}" for i in range(200))
    for text in texts(f"```\n{body}\n```"):
        assert all(line.startswith("    ") for line in text.split("\n")[1:-1])


def test_an_open_fence_ends_with_the_section() -> None:
    found = chunks_of(section("```\nx = 1", page=1), section("Text.", page=2))
    assert found[0].text == "```\nx = 1\n```\n\nText."


def test_a_fence_in_a_fence_is_code() -> None:
    text = "````md\n```py\nx\n```\n````"
    assert texts(text) == [text]


# -- sentences -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "joint"),
    [
        ("The key lasts e.g. for ninety days and no longer than that. ", ""),
        ("Der Schlüssel gilt z. B. neunzig Tage lang und keinen Tag mehr! ", ""),
        ("钥匙每九十天必须更换一次，旧钥匙还能用二十四小时。", ""),
        ("鍵は九十日ごとに変更する必要があります。「古い鍵は二十四時間有効です。」", ""),
        ("चाबी हर नब्बे दिन में बदलनी चाहिए और पुरानी चाबी काम करती है। ", ""),
        ("هل يجب تغيير المفتاح كل تسعين يوما أم لا؟ ", ""),
        ("กุญแจต้องเปลี่ยนทุกเก้าสิบวัน ", ""),
        ("열쇠는 구십 일마다 바꾸어야 합니다. ", ""),
    ],
)
def test_a_long_paragraph_is_cut_between_sentences(sentence: str, joint: str) -> None:
    text = (sentence * 90).strip()
    found = texts(text)
    assert len(found) > 1
    assert all(part.startswith(sentence[:8]) and part.endswith(sentence.strip()[-4:]) for part in found)
    assert "".join(found).replace(" ", "") == text.replace(" ", "")


def test_a_sentence_that_is_too_long_is_cut_at_commas_then_between_words() -> None:
    clauses = ", ".join(words(40, i * 40) for i in range(20))
    assert all(text.endswith(",") for text in texts(clauses)[:-1])
    found = texts(words(2000))
    assert " ".join(found) == words(2000)


@pytest.mark.parametrize(
    "span",
    ["[the. full, guide here](https://x.example/a_(b)?c=1,2)", "`a. b, c d`", "<https://x.example/a,b>"],
)
@pytest.mark.parametrize("filler", ["Filler text. ", "filler, ", "filler ", "填充文字", "填充。", "x"])
def test_links_and_inline_code_are_never_cut(span: str, filler: str) -> None:
    for offset in range(0, 40, 9):
        found = texts(filler * offset + (filler * 40 + span) * 6, budget=64, minimum=10)
        assert sum(text.count(span) for text in found) == 6


@pytest.mark.parametrize("cluster", ["👩🏽‍🚀", "🇩🇪", "ẹ\u0301", "กำ่", "한", "क्षि"])
def test_characters_as_readers_see_them_are_never_cut(cluster: str) -> None:
    found = texts(cluster * 900)
    assert len(found) > 1
    assert all(len(text) % len(cluster) == 0 and text.startswith(cluster) for text in found)


# -- the rest ------------------------------------------------------------------------------


def test_documents_without_words_have_no_chunks() -> None:
    assert chunks_of() == []
    assert chunks_of("", " \n\t\n", "---\n\n***", "| | |\n|---|---|\n| | |", "```\n```", "...") == []


def test_text_is_cleaned() -> None:
    (only,) = chunks_of("K\0ey\ud800 cafe\u0301 \u202ereversed\u202c so\xadft \ufefffin\r\nnext")
    assert only.text == "Key café reversed soft fin\nnext"


def test_the_language_of_a_chunk_is_its_own_or_the_documents() -> None:
    english = "Every person has a key. Change your key every ninety days, and tell nobody about it. " * 6
    found = chunks_of(
        section(english, "A"),
        section("OK", "B"),
        section("钥匙每九十天必须更换一次。", "C"),
        section("x = 1", "D"),
    )
    assert [c.language for c in found] == ["en", "en", "zh", "en"]


def test_a_second_run_gives_the_same_chunks() -> None:
    document = parsed_of(*(section(words(200, i), "H", page=i) for i in range(1, 9)))
    assert chunk(document, meta_of()) == chunk(document, meta_of())


@pytest.mark.parametrize(("budget", "minimum"), [(16, 4), (350, 200), (350, -1)])
def test_budgets_that_make_no_sense_are_refused(budget: int, minimum: int) -> None:
    with pytest.raises(ValueError, match="budget"):
        chunks_of("x", budget=budget, minimum=minimum)
