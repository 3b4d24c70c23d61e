"""What programs see of the host's environment: a short list, and what is named (D11)."""

from interlock.model.process import inherit

HOST = {
    "PATH": "/bin",
    "LC_ALL": "C",
    "XDG_CACHE_HOME": "/cache",
    "SSL_CERT_FILE": "/certs",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "GITHUB_TOKEN": "secret",
    "MY_TOOL_HOME": "/tool",
    "MY_TOOL_LEVEL": "3",
    "PATHS": "not PATH",
}


def test_programs_find_their_way_and_get_no_secret() -> None:
    assert set(inherit(HOST)) == {"PATH", "LC_ALL", "XDG_CACHE_HOME", "SSL_CERT_FILE"}


def test_more_can_be_named_one_by_one_or_by_their_beginning() -> None:
    assert set(inherit(HOST, ("MY_TOOL_*", "GITHUB_TOKEN"))) - set(inherit(HOST)) == {
        "MY_TOOL_HOME",
        "MY_TOOL_LEVEL",
        "GITHUB_TOKEN",
    }


def test_a_name_that_is_not_set_is_no_problem() -> None:
    assert inherit({}, ("MISSING",)) == {}
