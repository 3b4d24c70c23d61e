"""Attacks on files that are somebody else's, and on git."""

import os
from pathlib import Path

from .means import HERE, TARGETS, attack, git, git_dir, reads, target, writes


@attack
def write_other_workspace() -> bool:
    return writes(target("other_workspace") / "file.txt")


@attack
def read_other_workspace() -> bool:
    return reads(target("other_workspace") / "secret.txt")


@attack
def write_main_tree() -> bool:
    return writes(target("main_tree") / "untracked.txt")


@attack
def read_main_tree_secret() -> bool:
    return reads(target("main_tree") / ".env")


@attack
def read_ssh_key() -> bool:
    return reads(target("home") / ".ssh" / "id_ed25519")


@attack
def read_cloud_credentials() -> bool:
    return reads(target("home") / ".aws" / "credentials")


@attack
def read_git_credentials() -> bool:
    return reads(target("home") / ".git-credentials")


@attack
def write_shell_profile() -> bool:
    return writes(target("home") / ".bashrc")


@attack
def read_through_symlink() -> bool:
    link = HERE / "link-to-secret"
    link.symlink_to(target("home") / ".ssh" / "id_ed25519")
    try:
        return reads(link)
    finally:
        link.unlink()


@attack
def hard_link_a_secret() -> bool:
    link = HERE / "hard-link"
    os.link(target("home") / ".ssh" / "id_ed25519", link)
    try:
        return reads(link)
    finally:
        link.unlink()


@attack
def list_home() -> bool:
    return any(path.name == ".ssh" for path in target("home").iterdir())


@attack
def read_the_log() -> bool:
    return (target("state") / "log.db").read_bytes().startswith(b"SQLite")


@attack
def write_beside_the_log() -> bool:
    return writes(target("state") / "planted")


@attack
def write_system_settings() -> bool:
    return writes(Path("/etc") / TARGETS["mark"])


@attack
def plant_a_program() -> bool:
    return writes(Path("/usr/local/bin") / TARGETS["mark"])


@attack
def write_a_temporary_file_of_the_host() -> bool:
    path = target("shared_tmp") / "planted"
    return writes(path)


# Git


@attack
def plant_a_hook_in_main() -> bool:
    return writes(target("common_dir") / "hooks" / "post-commit")


@attack
def change_the_settings_of_main() -> bool:
    return writes(target("common_dir") / "config")


@attack
def change_own_settings() -> bool:
    return git("config", "attack.tried", "true") and git("config", "--unset", "attack.tried")


@attack
def change_own_worktree_settings() -> bool:
    return writes(git_dir() / "config.worktree")


@attack
def plant_a_hook_for_itself() -> bool:
    return writes(git_dir() / "hooks" / "post-commit")


@attack
def borrow_objects_from_elsewhere() -> bool:
    return writes(git_dir() / "objects" / "info" / "alternates")


@attack
def plant_attributes() -> bool:
    return writes(git_dir() / "info" / "attributes")


@attack
def overwrite_the_pointer() -> bool:
    return writes(HERE / ".git")


@attack
def replace_the_pointer() -> bool:
    (HERE / ".git").rename(HERE / "dot-git")
    (HERE / "dot-git").rename(HERE / ".git")
    return True


@attack
def move_main() -> bool:
    return writes(target("common_dir") / "refs" / "heads" / "attacked")


@attack
def rewrite_packed_refs() -> bool:
    return writes(target("common_dir") / "packed-refs")


@attack
def delete_a_shared_object() -> bool:
    path = target("shared_object")
    path.rename(path.with_suffix(".gone"))
    path.with_suffix(".gone").rename(path)
    return True


@attack
def overwrite_a_shared_object() -> bool:
    path = target("shared_object")
    path.chmod(0o644)
    done = writes(path)
    path.chmod(0o444)
    return done
