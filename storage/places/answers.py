"""What an error of object storage means and what to do about it, without its words.

Drivers quote keys and addresses in their errors.
"""

from typing import NamedTuple


class Driver(NamedTuple):
    """The extra that has the driver of a scheme, and the variables that it reads."""

    extra: str
    address: str
    keys: str


SCHEMES = {
    "s3": Driver("s3", "AWS_ENDPOINT_URL", "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_PROFILE"),
    "gs": Driver("gcs", "STORAGE_EMULATOR_HOST", "GOOGLE_APPLICATION_CREDENTIALS"),
}
NO_BUCKET = "there is no bucket {bucket}; create it, or correct the address in the plan"
UNCONDITIONAL = (
    "the object storage of {bucket} cannot write an object only if there is none (If-None-Match): "
    "of two writers none would be refused; name another publish.path"
)
_WHAT_TO_DO = {
    "driver": "{scheme}:// needs its driver: pip install 'crowdcover[{extra}]'",
    "keys": "no valid credentials for {bucket} were found; give them by the environment ({keys}) "
    "or by the role of this machine",
    "permission": "{bucket} does not let this account do that; check its keys or role, and that "
    "they may list, read and write there",
    "bucket": "{bucket} is no name of a bucket; correct the address in the plan",
    "conditions": UNCONDITIONAL,
    "address": "the address of the object storage of {bucket} is none; correct {address}, such as "
    "https://storage.example:9000",
    "changed": "an object of {bucket} changed while it was read; run again when nobody writes to "
    "it",
    "silence": "the object storage of {bucket} does not answer ({kind}); check its address "
    "({address}) and the network, then run again",
}


def what_to_do(error: Exception, bucket: str) -> str:
    """What to do about a driver's error; `bucket` is scheme://bucket."""
    scheme = bucket.partition("://")[0]
    driver = SCHEMES.get(scheme, SCHEMES["s3"])
    words = _WHAT_TO_DO[_classify_error(error)]
    return words.format(bucket=bucket, scheme=scheme, kind=type(error).__name__, **driver._asdict())


def _classify_error(error: Exception) -> str:
    """A key of `_WHAT_TO_DO`, by the class of the error."""
    kind = type(error).__name__
    if "Credential" in kind or "Token" in kind or kind in {"ProfileNotFound", "RefreshError"}:
        return "keys"
    if kind == "ParamValidationError":
        return "bucket"
    if kind == "FileExpired":  # of s3fs
        return "changed"
    classes = {
        ImportError: "driver",
        PermissionError: "permission",
        NotImplementedError: "conditions",
        ValueError: "address",
    }
    return next((cause for each, cause in classes.items() if isinstance(error, each)), "silence")
