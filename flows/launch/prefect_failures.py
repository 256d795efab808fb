"""Turn failures of Prefect into refusals."""

from collections.abc import Iterator
from contextlib import contextmanager

from prefect.exceptions import Pause
from prefect.settings import PREFECT_HOME

from anon_core.errors import AnonymityError
from crowdcover.storage.approval.approval import WaitingError
from crowdcover.storage.vault.disk_space import describe_full_disk, is_full


@contextmanager
def refuse_prefect_failures() -> Iterator[None]:
    """Raise any error of the work inside but an AnonymityError as a failure of Prefect."""
    try:
        yield
    except AnonymityError:
        raise
    except Pause as pause:  # of a flow run that waits
        raise WaitingError(str(pause.state and pause.state.message)) from None
    except Exception as error:  # noqa: BLE001 - Prefect raises many types
        raise AnonymityError(
            describe_full_disk("Prefect", [PREFECT_HOME.value()])
            if is_full(error)
            else f"Prefect could not run the flow ({type(error).__name__}); "
            "check PREFECT_API_URL, or remove it from the environment and from Prefect's settings: "
            "then it runs without a server"
        ) from None
