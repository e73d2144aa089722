"""What the tables of a task file have in common."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from sci_gym.errors import UnknownNameError
from sci_gym.evaluation.signatures import describe
from sci_gym.tasks.locator import FieldError, KeyPath


class Table(BaseModel):
    """A TOML table with known keys; an unknown one is an error with a suggestion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _know_keys(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            raise ValueError(f"a table is wanted, not {data!r}.")
        for key in data:
            if key not in cls.model_fields and cls.model_config["extra"] == "forbid":
                error = UnknownNameError("key", key, cls.model_fields)
                raise PydanticCustomError("unknown_key", "{message}", {"message": str(error), "key": key})
        return data


_Model = TypeVar("_Model", bound=Table)


def known(name: str, choices: Sequence[str] | Mapping[str, Any], what: str, path: KeyPath) -> str:
    """The name; a `FieldError` if it is unknown."""
    if name not in choices:
        raise FieldError(path, str(UnknownNameError(what, name, choices)))
    return name


def parse(model: type[_Model], data: Any, path: KeyPath = ()) -> _Model:
    """Data as a table; a `FieldError` if they are not one. `path` is where they stand in the document."""
    try:
        return model.model_validate(data)
    except ValidationError as exc:
        raise next(faults(exc, path)) from exc


def faults(error: ValidationError, path: KeyPath = ()) -> Iterator[FieldError]:
    """All that pydantic found, each with its place."""
    for details in error.errors(include_url=False):
        place = (*path, *details["loc"])
        if place[:1] == ("parameters",):  # pydantic puts the form's tag after the parameter's name
            place = place[:2] + place[3:]
        if details["type"] == "unknown_key":
            yield FieldError((*place, details["ctx"]["key"]), details["ctx"]["message"])
        elif details["type"] == "missing":
            yield FieldError(place[:-1], f"{place[-1]!r} is missing.")
        else:
            yield FieldError(place, describe(details))
