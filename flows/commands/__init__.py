"""The commands of `crowdcover`, one file each, in the order of its help."""

from flows.commands import (
    audit,
    decide,
    demo,
    doctor,
    measure,
    plan,
    release,
    retract,
    schema,
    serve,
    show,
    vault,
    withdraw,
)
from flows.commands.command import Command

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        release.COMMAND,
        audit.COMMAND,
        show.COMMAND,
        plan.COMMAND,
        schema.COMMAND,
        doctor.COMMAND,
        measure.COMMAND,
        serve.COMMAND,
        decide.APPROVE,
        decide.REJECT,
        decide.REOPEN,
        retract.COMMAND,
        withdraw.COMMAND,
        vault.COMMAND,
        demo.COMMAND,
    )
}
