"""config.toml: the few settings of a workspace. Every one has a default that is right for most. Values, no I/O;
how people write it, with what each setting means, is in config_file.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from weft.protocol.values import dataclass, field
from weft.workspace.model_table import ModelTable, RoleTable
from weft.workspace.resource_limit import ResourceLimit

FILE: Final = "config.toml"


@dataclass(frozen=True, kw_only=True)
class Config:
    default_pipeline: str | None = None
    concurrency: int = 4
    durable: bool = True
    cache: bool = True
    telemetry: bool = False
    kb: str | None = None
    model: str = "embedded"
    store: str | None = None
    objects: str | None = None
    limits: Mapping[str, ResourceLimit] = field(default_factory=dict)
    roles: RoleTable = field(default_factory=RoleTable)
    models: Mapping[str, ModelTable] = field(default_factory=dict)
