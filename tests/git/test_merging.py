"""Merges in memory: exact about the base, clear about conflicts (W12)."""

from interlock.model.task import Commit
from tests.git.world import World, git, run


def test_conflicts_are_named_and_shown(world: World) -> None:
    base = world.main
    ours = world.made({"a.txt": "one\nOURS\nthree\n", "src/b.txt": "ours\n"}, base)
    theirs = world.made({"a.txt": "one\nTHEIRS\nthree\n", "src/b.txt": None}, base)
    merge = run(world.repository.merge(ours, theirs, base))
    assert merge.tree is None
    assert merge.conflicts == ("a.txt", "src/b.txt")
    assert "CONFLICT (content): Merge conflict in a.txt" in merge.text
    assert "CONFLICT (modify/delete)" in merge.text
    assert "OURS\n" in merge.text
    assert "THEIRS\n" in merge.text
    assert "Auto-merging" not in merge.text


def test_of_a_long_conflict_the_first_lines_are_shown_and_nothing_around_it(world: World) -> None:
    base = world.made({"a.txt": "above\nold\nbelow\n"}, world.main)
    ours = world.made({"a.txt": "above\n" + "ours\n" * 50 + "below\n"}, base)
    theirs = world.made({"a.txt": "above\n" + "theirs\n" * 50 + "below\n"}, base)
    shown = run(world.repository.merge(ours, theirs, base)).text.partition("a.txt:\n")[2].splitlines()
    assert shown[0].startswith("<<<<<<< ")
    assert shown[1:52] == [*["ours"] * 50, "======="]
    assert shown[52:60] == ["theirs"] * 8
    assert shown[60:] == ["[43 more lines]"]  # 50 + 50 and three markers, of which 60 are shown


def test_of_a_conflict_that_just_fits_nothing_is_left_out(world: World) -> None:
    base = world.made({"a.txt": "above\nold\nbelow\n"}, world.main)
    ours = world.made({"a.txt": "above\n" + "ours\n" * 50 + "below\n"}, base)
    theirs = world.made({"a.txt": "above\n" + "theirs\n" * 7 + "below\n"}, base)
    text = run(world.repository.merge(ours, theirs, base)).text
    assert "more lines" not in text
    assert text.endswith("theirs\n" * 7 + text.splitlines()[-1] + "\n")


def test_changes_to_different_lines_of_a_file_merge(world: World) -> None:
    base = world.commit({"a.txt": "\n".join("abcdefghij")})
    ours = world.made({"a.txt": "\n".join("Abcdefghij")}, base)
    theirs = world.made({"a.txt": "\n".join("abcdefghiJ")}, base)
    merge = run(world.repository.merge(ours, theirs, base))
    assert git(world.root, "cat-file", "blob", f"{merge.tree}:a.txt") == "\n".join("AbcdefghiJ")


def test_only_what_changed_since_the_base_counts(world: World) -> None:
    """Work that does not descend from the base, and a main that was rewound behind it."""
    first = world.main
    base = world.made({"a.txt": "base\n"}, first)
    tree = world.tree(world.made({"n.txt": "n\n"}, base))
    unrelated = Commit(git(world.root, "commit-tree", tree, "-m", "root"))
    onto = world.made({"src/b.txt": "moved on\n"}, first)
    merge = run(world.repository.merge(onto, unrelated, base))
    names = git(world.root, "ls-tree", "-r", "--name-only", str(merge.tree)).split()
    assert "n.txt" in names
    assert git(world.root, "cat-file", "blob", f"{merge.tree}:a.txt") == "one\ntwo\nthree"
    assert git(world.root, "cat-file", "blob", f"{merge.tree}:src/b.txt") == "moved on"


def test_a_path_with_odd_characters_can_conflict(world: World) -> None:
    name = 'odd "name" ü\t-x.txt'
    base = world.made({name: "0\n"}, world.main)
    ours, theirs = world.made({name: "1\n"}, base), world.made({name: "2\n"}, base)
    assert run(world.repository.merge(ours, theirs, base)).conflicts == (name,)


def test_diff_is_text_and_runs_no_program(world: World) -> None:
    git(world.root, "config", "diff.evil.textconv", "touch fired;cat")
    git(world.root, "config", "diff.external", "touch fired;cat")
    old = world.commit({".gitattributes": "*.txt diff=evil\n"})
    new = world.commit({"a.txt": "other\n", "src/b.txt": "B\n"})
    text = run(world.repository.diff(old, new))
    assert "+other" in text
    assert "+B" in text
    assert "+B" not in run(world.repository.diff(old, new, ["a.txt"]))
    assert run(world.repository.diff(old, new, ["*.txt"])) == ""
    assert not list(world.root.rglob("fired"))


def test_commits_name_the_user_as_author_and_interlock_as_committer(world: World) -> None:
    repository = world.repository
    commit = run(repository.commit(world.tree("HEAD"), world.main, "Title\n\nInterlock-Task: t\n"))
    assert git(world.root, "log", "-1", "--format=%an|%cn|%s|%(trailers:only)", commit) == (
        "Ada|Interlock|Title|Interlock-Task: t"
    )


def test_a_conflict_about_the_content_of_plain_files_names_the_content_of_each_side(world: World) -> None:
    base = world.main
    ours = world.made({"a.txt": "ours\n", "new.txt": "ours\n"}, base)
    theirs = world.made({"a.txt": "theirs\n", "new.txt": "theirs\n"}, base)
    merge = run(world.repository.merge(ours, theirs, base))
    sides = [
        [
            git(world.root, "cat-file", "blob", blob) if blob else ""
            for blob in (each.base, each.ours, each.theirs)
        ]
        for each in merge.clashes
    ]
    assert [clash.path for clash in merge.clashes] == ["a.txt", "new.txt"]
    assert sides == [["one\ntwo\nthree", "ours", "theirs"], ["", "ours", "theirs"]]
    assert "<<<<<<< " in git(world.root, "cat-file", "blob", f"{merge.marked}:a.txt")


def test_a_conflict_about_more_than_content_is_for_people_and_agents_alone(world: World) -> None:
    base = world.main
    ours = world.made({"a.txt": "ours\n", "src/b.txt": "ours\n"}, base)
    theirs = world.made({"a.txt": "theirs\n", "src/b.txt": None}, base)
    merge = run(world.repository.merge(ours, theirs, base))
    assert (merge.marked, merge.clashes) == (None, ())
