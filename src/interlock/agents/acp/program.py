"""Any agent that speaks the Agent Client Protocol on standard input and output: `run` says how to start it.

With `wire`, it finds the model proxy in the variables that programs of that language read.
"""

from interlock.agents.adapter import Dialogue, Launch, LaunchContext, Wire
from interlock.agents.command import model_variables


class Acp:
    """`use: acp`."""

    use = "acp"
    wire: Wire | None = None
    program = ""
    can_resume = True
    can_steer = True

    def launch(self, context: LaunchContext) -> Launch:
        from interlock.agents.acp.opening import greeting  # noqa: PLC0415 - slow; most runs have no such agent

        model = {"INTERLOCK_MODEL": context.agent.model} if context.agent.model else {}
        where = model_variables(context.agent.wire, context.model_url, context.token)
        return Launch((*context.agent.run, *context.agent.args), {**where, **model}, say=greeting())

    def reader(self, context: LaunchContext) -> Dialogue:
        from interlock.agents.acp.dialogue import AcpDialogue  # noqa: PLC0415 - as above

        return AcpDialogue(context)
