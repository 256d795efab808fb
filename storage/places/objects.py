"""Places in object storage: S3 and what speaks its protocol, Google Cloud Storage.

Credentials are those that the drivers find by themselves: variables of the environment, the shared
files of the provider's tools, the role of the machine. None stands in a plan.
"""

import hashlib
import io
import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeVar

from anon_core.errors import AnonymityError
from crowdcover.storage.places.answers import NO_BUCKET, what_to_do
from crowdcover.storage.places.outages import ask_again

# What tells two contents of an object apart, by the names that the drivers give it.
STAMPS = ("size", "ETag", "etag", "generation", "md5Hash", "VersionId", "LastModified", "created")
LOGGERS = ("s3fs", "gcsfs", "fsspec")
BLOCK = 16 * 2**20  # bytes that one request reads of a large object
_Result = TypeVar("_Result")


class StoreError(AnonymityError, OSError):
    """Object storage does not answer, or refuses."""


@dataclass(frozen=True, order=True)
class ObjectPath:
    """A place in object storage, with the part of pathlib's interface that releases need.

    `url` is scheme://bucket/key, without a slash at its end. An object exists; a folder is what
    objects have before a slash in their names.
    """

    url: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", self.url.rstrip("/"))

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> "ObjectPath":
        return ObjectPath(f"{self.url}/{name}")

    @property
    def scheme(self) -> str:
        """s3 or gs."""
        return self.url.partition("://")[0]

    @property
    def bucket(self) -> str:
        """scheme://bucket."""
        return "/".join(self.url.split("/")[:3])

    @property
    def name(self) -> str:
        """The last part of the key."""
        return self.url.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The end of the name, from its last dot on."""
        return Path(self.name).suffix

    @property
    def parent(self) -> "ObjectPath":
        """The place above."""
        return ObjectPath(self.url.rpartition("/")[0])

    def with_name(self, name: str) -> "ObjectPath":
        """The place beside it with another name."""
        return self.parent / name

    def absolute(self) -> "ObjectPath":
        """The place itself: object storage has no current folder."""
        return self

    def exists(self) -> bool:
        """Whether there is an object, or one below it."""
        return self._ask(lambda store: bool(store.exists(self.url)))

    def is_file(self) -> bool:
        """Whether there is an object."""
        return self._ask(lambda store: bool(store.isfile(self.url)))

    def is_dir(self) -> bool:
        """Whether there are objects below it."""
        return bool(self.below())

    def iterdir(self) -> Iterator["ObjectPath"]:
        """What lies directly below it."""
        names = {name.partition("/")[0] for name in self.below()}
        return (self / name for name in sorted(names))

    def below(self) -> dict[str, tuple[str, ...]]:
        """All objects below it by their names from here: what tells their contents apart."""
        try:
            return self._ask(self._list_below)
        except FileNotFoundError:
            refusal = NO_BUCKET.format(bucket=self.bucket)
        raise StoreError(refusal)

    def _list_below(self, store: Any) -> dict[str, tuple[str, ...]]:
        start = str(store._strip_protocol(self.url)) + "/"
        found = store.find(self.url, detail=True)
        return {
            name.removeprefix(start): _extract_stamp(about)
            for name, about in sorted(found.items())
            # `find` also gives an object of this very name, and markers of folders.
            if name.startswith(start) and not name.endswith("/")
        }

    def stamp(self) -> tuple[str, ...]:
        """What tells the content of the object apart from any other."""
        return self._ask(lambda store: _extract_stamp(store.info(self.url)))

    def read_bytes(self) -> bytes:
        """The whole content, by one request: it is of one moment."""
        return self._ask(lambda store: bytes(store.cat_file(self.url)))

    def read_in_blocks(self) -> bytes:
        """The whole content of a large object: at its peak twice its bytes are held.

        One request would hold them three times. Whoever calls compares stamps.
        """

        def read(store: Any) -> bytes:
            with store.open(self.url, "rb", cache_type="none") as content:
                return b"".join(iter(lambda: content.read(BLOCK), b""))

        return self._ask(read)

    def read_text(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        """The content as text."""
        return self.read_bytes().decode(encoding, errors)

    def sha256(self) -> str:
        """Hash of the content, which is not held as a whole."""

        def read(store: Any) -> str:
            with store.open(self.url, "rb", block_size=BLOCK) as content:
                return hashlib.file_digest(content, "sha256").hexdigest()

        return self._ask(read)

    def open(self, mode: str = "rb") -> IO[bytes]:
        """The content as a file to read."""
        assert mode == "rb", "objects are written whole"
        return io.BytesIO(self.read_bytes())

    def fetch(self, file: Path) -> None:
        """Copy the content into a new local file."""
        self._ask(lambda store: store.get_file(self.url, str(file)))

    def create(self, content: bytes) -> None:
        """Write an object that is not there yet; FileExistsError if it is.

        It may be there by this very call, whose answer was lost: compare the content.
        """
        self._ask(lambda store: store.pipe_file(self.url, content, mode="create"))

    def create_from(self, file: Path) -> None:
        """Write an object from a local file; FileExistsError as of `create`."""
        self._ask(lambda store: store.put_file(str(file), self.url, mode="create"))

    def write_bytes(self, content: bytes) -> None:
        """Write an object, or replace it."""
        self._ask(lambda store: store.pipe_file(self.url, content))

    def copy_to(self, other: "ObjectPath") -> None:
        """Copy the object inside the storage."""
        self._ask(lambda store: store.cp_file(self.url, other.url))

    def unlink(self, *, missing_ok: bool = False) -> None:
        """Remove the object."""
        tried: list[bool] = []

        def remove(store: Any) -> None:
            tried.append(True)
            try:
                store.rm_file(self.url)
            except FileNotFoundError:
                # A second try: the answer to the first one may have been lost.
                if not missing_ok and len(tried) == 1:
                    raise

        self._ask(remove)

    def _ask(self, work: Callable[[Any], _Result]) -> _Result:
        """What the driver answers, after an outage, too; its errors say what to do."""
        try:
            import fsspec

            _silence_drivers()
            # No cache: an old listing would hide what another writer did since.
            store = fsspec.filesystem(self.scheme, use_listings_cache=False)
            return ask_again(f"the object storage of {self.bucket}", lambda: work(store))
        except (FileExistsError, FileNotFoundError):
            raise
        except Exception as error:
            refusal = what_to_do(error, self.bucket)
        raise StoreError(refusal)


def _silence_drivers() -> None:
    """Keep the drivers from logging: their messages quote addresses, keys of objects and traces."""
    for name in LOGGERS:
        logger = logging.getLogger(name)
        logger.propagate = False
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())
    # Of a connection that was cut, aiohttp leaves tasks whose errors nobody asks for.
    logging.getLogger("asyncio").addFilter(_is_no_lost_request)


def _is_no_lost_request(record: logging.LogRecord) -> bool:
    error = record.exc_info[1] if record.exc_info else None
    return not type(error).__module__.startswith("aiohttp")


def _extract_stamp(about: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(about[name]) for name in STAMPS if about.get(name) is not None)
