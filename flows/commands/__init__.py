"""The commands of `crowdcover`, one file each, in the order of its help."""

from flows.commands import (
    audit,
    complete,
    decide,
    demo,
    diff,
    doctor,
    key,
    measure,
    plan,
    release,
    retract,
    runs,
    schema,
    serve,
    show,
    sign,
    try_,
    vault,
    verify,
    waiting,
    withdraw,
)
from flows.commands.command import Command

COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        release.COMMAND,
        audit.COMMAND,
        verify.COMMAND,
        show.COMMAND,
        complete.COMMAND,
        diff.COMMAND,
        runs.COMMAND,
        waiting.COMMAND,
        plan.COMMAND,
        schema.COMMAND,
        doctor.COMMAND,
        try_.COMMAND,
        measure.COMMAND,
        serve.COMMAND,
        decide.APPROVE,
        decide.REJECT,
        decide.REOPEN,
        key.COMMAND,
        sign.COMMAND,
        retract.COMMAND,
        withdraw.COMMAND,
        vault.COMMAND,
        demo.COMMAND,
    )
}
