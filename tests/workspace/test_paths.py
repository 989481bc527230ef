"""What a path argument means, for every tool alike."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sloyd.errors import WorkspaceError
from sloyd.workspace.local import LocalWorkspace
from sloyd.workspace.memory import MemoryWorkspace
from sloyd.workspace.names import fold, unquote_name
from sloyd.workspace.paths import near_names, quote_name, relative_to, resolve

NBSP, NARROW = "\u00a0", "\u202f"


def files(*names: str) -> MemoryWorkspace:
    workspace = MemoryWorkspace("/code", "/home/me")
    for name in names:
        workspace.add_file(f"/code/{name}" if not name.startswith("/") else name)
    return workspace


async def found(workspace: MemoryWorkspace, argument: str) -> str | None:
    """The path that an argument means, where something is there."""
    resolved = await resolve(workspace, argument)
    return resolved.path if resolved.exists else None


@pytest.mark.parametrize(
    "name",
    [
        f"a{NBSP}b.txt",
        "@at.txt",
        "~",
        "~tilde.txt",
        "~/deep",
        "file:",
        '"quoted"',
        " lead",
        "trail ",
        "new\nline",
        "-dash",
        "[br]acket",
        "caf\udce9",
        "e\u0301",
    ],
)
async def test_the_literal_name_comes_first(name: str) -> None:
    twins = ("a b.txt", "at.txt", "/home/me/deep", "quoted", "lead", "trail", "\u00e9")
    workspace = files(name, *twins)
    assert await found(workspace, name) == f"/code/{name}"
    assert await found(workspace, f"/code/{name}") == f"/code/{name}"


@pytest.mark.parametrize(
    ("argument", "path"),
    [
        ("", "/code"),
        (".", "/code"),
        ("./x//y/./z", "/code/x/y/z"),
        ("../out", "/code/../out"),
        ("/abs", "/abs"),
        ("@new.txt", "/code/new.txt"),
        ("@@new.txt", "/code/@new.txt"),
        ("~", "/home/me"),
        ("~/x", "/home/me/x"),
        ("@~/x", "/home/me/x"),
        ("~root/x", "/code/~root/x"),
        ("file:///tmp/a%20b", "/tmp/a b"),
        ("file://localhost/tmp/x", "/tmp/x"),
        ("FILE:///tmp/caf%C3%A9%FF", "/tmp/caf\u00e9\udcff"),
        (" ", "/code/ "),
        ("newdir/", "/code/newdir/"),
        ('"a\\nb"', "/code/a\nb"),
        (f"new{NBSP}file", f"/code/new{NBSP}file"),
    ],
)
async def test_what_a_new_path_means(argument: str, path: str) -> None:
    resolved = await resolve(files(), argument)
    assert resolved.path == path


async def test_a_mention_of_a_directory_that_begins_with_at() -> None:
    workspace = files("@types/node/index.d.ts")
    assert (await resolve(workspace, "@types/new.ts")).path == "/code/@types/new.ts"
    assert (await resolve(workspace, "@other/new.ts")).path == "/code/other/new.ts"


@pytest.mark.parametrize(
    ("on_disk", "asked"),
    [
        (f"shot 3.00.00{NARROW}PM.png", "shot 3.00.00 PM.png"),
        ("shot 3.00.00 PM.png", f"shot 3.00.00{NARROW}PM.png"),
        ("cafe\u0301.txt", "caf\u00e9.txt"),
        ("caf\u00e9.txt", "cafe\u0301.txt"),
        ("l\u2019ecran.txt", "l'ecran.txt"),
        ("it's.txt", "it\u2019s.txt"),
        ("\u201cq\u201d.txt", '"q".txt'),
        (f"my{NBSP}dir/l\u2019e\u0301t\u00e9.md", "my dir/l'\u00e9te\u0301.md"),
        ("sp ace.txt", f"sp{NBSP}ace.txt"),
    ],
)
async def test_a_look_alike_on_disk_is_found_both_ways(on_disk: str, asked: str) -> None:
    workspace = files(on_disk)
    assert await found(workspace, asked) == f"/code/{on_disk}"
    assert await found(workspace, f"@{asked}") == f"/code/{on_disk}"
    assert await found(workspace, f"/code/{asked}") == f"/code/{on_disk}"


async def test_of_several_look_alikes_none_is_taken() -> None:
    workspace = files(f"a{NBSP}b", f"a{NARROW}b")
    assert await found(workspace, "a b") is None
    assert (await resolve(workspace, "a b")).path == "/code/a b"
    assert await near_names(workspace, "/code/a b") == [f"/code/a{NBSP}b", f"/code/a{NARROW}b"]


async def test_a_new_file_goes_into_a_look_alike_directory() -> None:
    workspace = files(f"my{NBSP}dir/old.txt")
    resolved = await resolve(workspace, "my dir/new.txt")
    assert (resolved.path, resolved.exists) == (f"/code/my{NBSP}dir/new.txt", False)


async def test_a_dangling_link_exists() -> None:
    workspace = files()
    workspace.add_symlink("/code/@link", "nowhere")
    assert await found(workspace, "@link") == "/code/@link"


@pytest.mark.parametrize("argument", ["file:///tmp/it.py#L10", "file:///tmp/it.py?x=1"])
async def test_the_fragment_of_a_url_is_dropped_unless_it_is_a_name(argument: str) -> None:
    workspace = files("/tmp/it.py")
    assert await found(workspace, argument) == "/tmp/it.py"
    workspace.add_file("/tmp/c#.txt")
    assert await found(workspace, "file:///tmp/c#.txt") == "/tmp/c#.txt"


@pytest.mark.parametrize(
    "argument", ["a\0b", "file://host/x", "file:///a%00b", "file:///a%2Fb", '"a\\u0000b"']
)
async def test_what_means_nothing(argument: str) -> None:
    with pytest.raises(WorkspaceError) as caught:
        await resolve(files(), argument)
    assert caught.value.reason == "invalid-path"
    assert "\0" not in str(caught.value)


async def test_another_directory_to_start_from() -> None:
    workspace = files("sub/f")
    assert (await resolve(workspace, "f", cwd="/code/sub")).path == "/code/sub/f"


async def test_windows_spellings() -> None:
    workspace = MemoryWorkspace("/code", "/home/me")
    for argument in ("/c/proj/a.txt", "/mnt/c/proj/a.txt", "C:\\proj\\a.txt"):
        resolved = await resolve(workspace, argument, cwd="C:\\work")
        assert resolved.path == "C:\\proj\\a.txt"
    assert (await resolve(workspace, "a/b", cwd="C:\\work")).path == "C:\\work\\a\\b"
    assert (await resolve(workspace, "/c/proj")).path == "/c/proj"


async def test_shown_is_the_argument_as_given() -> None:
    workspace = files()
    for argument, shown in (
        ("a/../b", "a/../b"),
        ("", "."),
        ("new\nline", '"new\\nline"'),
        ('"new\\nline"', '"new\\nline"'),
        (f"a{NBSP}b", '"a\\u00a0b"'),
    ):
        assert (await resolve(workspace, argument)).shown == shown


def test_relative_to() -> None:
    assert relative_to("/code/a/b", "/code") == "a/b"
    assert relative_to("/code", "/code") == "."
    assert relative_to("/worker/a", "/code") == "/worker/a"
    assert relative_to("/etc", "/") == "etc"


@pytest.mark.parametrize(
    "name", ["plain.txt", "with space.txt", "caf\u00e9", "日本.md", "-dash", "it's", 'a"b', "a\\b"]
)
def test_plain_names_are_not_quoted(name: str) -> None:
    assert quote_name(name) == name


@pytest.mark.parametrize(
    ("name", "quoted"),
    [
        ("", '""'),
        (" lead", '" lead"'),
        ("trail ", '"trail "'),
        ("new\nline", '"new\\nline"'),
        ("tab\there", '"tab\\there"'),
        (f"a{NBSP}b", '"a\\u00a0b"'),
        ("zero\u200bwidth", '"zero\\u200bwidth"'),
        ("caf\udce9", '"caf\\udce9"'),
        ("bidi\u202egpj.exe", '"bidi\\u202egpj.exe"'),
        ('"q" \n', '"\\"q\\" \\n"'),
        ("é\n", '"é\\n"'),
    ],
)
def test_odd_names_are_quoted(name: str, quoted: str) -> None:
    assert quote_name(name) == quoted


names = st.text(
    st.one_of(
        st.characters(codec="utf-8", exclude_characters="/\0"),
        st.sampled_from("\"\\' \n\t@~\u00a0\u202f\u2019e\u0301\u00e9\udc80\udcff"),
    ),
    min_size=1,
    max_size=12,
).filter(lambda name: name not in (".", "..") and len(os.fsencode(name)) < 200)


@given(name=names)
def test_a_quoted_name_is_one_printable_line_and_can_be_read_back(name: str) -> None:
    quoted = quote_name(name)
    assert quoted == name or unquote_name(quoted) == name
    assert "\n" not in quoted
    assert quoted.encode("utf-8").strip() == quoted.encode("utf-8")


@given(name=names, others=st.lists(names, max_size=3))
async def test_every_real_name_is_reached_by_itself_and_by_its_quoted_form(
    name: str, others: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    directory = tmp_path_factory.mktemp("names")
    workspace = LocalWorkspace(str(directory))
    for other in [*others, name]:
        await workspace.replace(f"{directory}/{other}", b"")
    assert (await resolve(workspace, name)).path == f"{directory}/{name}"
    quoted = quote_name(name)
    if quoted not in others:
        assert (await resolve(workspace, quoted)).path == f"{directory}/{name}"


@given(name=names)
def test_folding_is_stable(name: str) -> None:
    assert fold(fold(name)) == fold(name)


@pytest.mark.parametrize(
    ("asked", "near"),
    [
        ("src/Main.PY", "src/main.py"),
        ("src/main.ts", "src/main.py"),
        ("src/mian.py", "src/main.py"),
        ("scr/main.py", "src"),
        ("readme.md", "README.md"),
        ("READMEE.md", "README.md"),
    ],
)
async def test_near_names(asked: str, near: str) -> None:
    workspace = files("src/main.py", "src/other.txt", "README.md", "docs/guide.md")
    assert (await near_names(workspace, f"/code/{asked}"))[:1] == [f"/code/{near}"]


async def test_near_names_are_few_and_may_be_none() -> None:
    workspace = files(*(f"test_{number}.py" for number in range(50)), "f")
    assert len(await near_names(workspace, "/code/test_x.py")) == 5
    assert await near_names(workspace, "/code/quite different") == []
    assert await near_names(workspace, "/code/f/below") == ["/code/f"]
    assert await near_names(workspace, "/nothing/at/all") == []


async def test_near_names_of_a_huge_directory_come_soon() -> None:
    workspace = files()
    for number in range(20_000):
        workspace.add_file(f"/code/some_module_number_{number}.py")
    near = await near_names(workspace, "/code/some_module_number_1.ts")
    assert near[0] == "/code/some_module_number_1.py"
