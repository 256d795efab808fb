"""The login before Prefect's server, as `deploy/sign-in.yaml` adds it to compose.yaml."""

from importlib import import_module
from pathlib import Path

import yaml

from crowdcover.flows.launch.sign_in import HEADER_VARIABLE, KEY_VARIABLE
from crowdcover.storage.places.credentials import is_reference

DEPLOY = Path(__file__).parents[2] / "deploy"


class Loader(yaml.SafeLoader):
    """Also reads `!reset`, by which compose takes a setting of another file away."""


Loader.add_constructor("!reset", lambda loader, node: ("reset", loader.construct_sequence(node)))


def test_people_reach_the_server_through_the_login_only():
    document = yaml.load((DEPLOY / "sign-in.yaml").read_text("utf-8"), Loader)
    server, login = (document["services"][name] for name in ("server", "login"))
    base = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))["services"]["server"]
    assert base["ports"]
    assert server["ports"] == ("reset", [])
    (factory,) = [word for word in server["entrypoint"] if word.startswith("crowdcover.")]
    module, _, name = factory.partition(":")
    assert callable(getattr(import_module(module), name))
    assert is_reference(server["environment"][KEY_VARIABLE])
    # The header that the login writes for the server it stands before.
    assert server["environment"][HEADER_VARIABLE] == "X-Forwarded-Email"
    assert login["environment"]["OAUTH2_PROXY_UPSTREAMS"] == "http://server:4200"
    assert server["entrypoint"][-1] == "4200"
    stated = [*server["environment"].values(), *login["environment"].values()]
    assert not [each for each in stated if "SECRET" in each and not each.startswith("${")]
