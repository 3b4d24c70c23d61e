"""An error as programs get it."""

from interlock.model.errors import UserError


def error_object(error: UserError) -> dict[str, object]:
    """The same four fields for every error, whatever the command; a graph adds its problems one by one."""
    told = {"code": error.code, "message": str(error), "hint": error.hint, "retryable": error.retryable}
    problems = getattr(error, "problems", ())
    return told | ({"problems": problems} if problems else {})
