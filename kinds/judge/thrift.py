"""Thrift's compact protocol, as far as Parquet files use it."""

import mmap
from typing import Any

UNUSUAL = "no structs of Parquet, or not in their shortest form"
DEEPEST = 16  # structs and lists inside each other; those of Parquet need 8


class Compact:
    """Reads structs; `at` is where the next byte stands.

    `kinds` are the types that were read, each behind the numbers of the fields that lead to it.
    Raises ValueError where there are none, or where one is written longer than needed.
    """

    def __init__(self, content: bytes | mmap.mmap, at: int = 0) -> None:
        self.content, self.at = content, at
        self.kinds: set[tuple[int, ...]] = set()
        self._path: tuple[int, ...] = ()

    def fields(self) -> dict[int, Any]:
        """The fields of a struct by number."""
        values: dict[int, Any] = {}
        number = 0
        while head := self._take(1)[0]:
            # Four bits hold the step from the last number. A longer form of it could carry a bit.
            after = number + (head >> 4) if head >> 4 else self._whole()
            # Fields stand in the order of their numbers.
            if after <= number or (not head >> 4 and after - number <= 15):
                raise ValueError(UNUSUAL)
            number = after
            # A boolean field has its value in its type: 1 is true, 2 is false.
            values[number] = (
                head & 15 == 1 if head & 15 in (1, 2) else self._value(number, head & 15)
            )
        return values

    def _value(self, field: int, kind: int) -> Any:
        """The value of a field, or of a member of a list, which has the number 0."""
        # A byte opens another level: without a limit a small file exhausts the stack.
        if len(self._path) > DEEPEST:
            raise ValueError(UNUSUAL)
        before, self._path = self._path, (*self._path, field)
        self.kinds.add((*self._path, kind))
        value = self._read_value(kind)
        self._path = before
        return value

    def _read_value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # a boolean in a list takes one byte
            return self._take(1)[0]
        if kind in (4, 5, 6):
            return self._whole()
        if kind == 7:
            return self._take(8)
        if kind == 8:
            return self._take(self._natural())
        if kind in (9, 10):
            head = self._take(1)[0]
            size = head >> 4 if head >> 4 < 15 else self._natural()
            if head >> 4 == 15 > size:
                raise ValueError(UNUSUAL)
            return [self._value(0, head & 15) for _ in range(size)]
        if kind == 12:
            return self.fields()
        raise ValueError(UNUSUAL)

    def _take(self, size: int) -> bytes:
        self.at += size
        if self.at > len(self.content):
            raise ValueError(UNUSUAL)
        return self.content[self.at - size : self.at]

    def _natural(self) -> int:
        value = shift = 0
        while (byte := self._take(1)[0]) & 128:
            value |= (byte & 127) << shift
            shift += 7
        # A last group of zeros adds nothing, so a shorter form exists.
        if shift and not byte:
            raise ValueError(UNUSUAL)
        return value | byte << shift

    def _whole(self) -> int:
        value = self._natural()
        # Zigzag: 0, -1, 1, -2, ... are stored as 0, 1, 2, 3, ...
        return value >> 1 ^ -(value & 1)
