"""What the administrator decides: EVALUI_* environment variables, then evalui.toml."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import ByteSize, Field, IPvAnyNetwork, ValidationError, model_validator
from pydantic_settings import (
    BaseSettings,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    TomlConfigSettingsSource,
)

from evalui.access import Role
from evalui.errors import SpecError
from evalui.shipped_files import ASSETS


class Settings(BaseSettings):
    """Paths, limits and addresses; each field is also `EVALUI_<FIELD>`."""

    model_config = SettingsConfigDict(env_prefix="EVALUI_", toml_file="evalui.toml")

    data_dir: Path = Path.home() / ".local" / "share" / "evalui"
    models: Path = ASSETS / "models.toml"
    # Files of published sets, laid out as on the hub; beside what `benchmarks fetch` has got.
    task_data: Path | None = None
    host: str = "127.0.0.1"
    # Names under which the server may be called, beside addresses and localhost.
    allowed_hosts: list[str] = []
    # What a proxy takes off the path of each request, such as "/evalui"; "" if it takes nothing.
    root_path: str = Field(default="", pattern=r"^(/[\w.~-]+)*$")
    port: int = Field(default=7860, ge=0, le=65535)
    language: str = "en"
    max_upload_mb: int = Field(default=2000, gt=0)  # pictures and all, see `datasets.model.Limits`
    # Whether the page may add models; None: only if nobody but this machine can reach it.
    edit_models: bool | None = None
    # A finished gallery: nothing can be started, deleted, voted on or uploaded.
    read_only: bool = False
    threads: int = Field(default=0, ge=0)  # of one worker; 0: as many as it may use processors
    # Workers that the server starts: 0 if they are run by hand, "auto" for one on each GPU.
    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = 1
    model_idle_s: float = Field(default=300.0, ge=0)  # how long a model without work stays loaded
    # A cell without a new answer for so long has a model that hangs, or one that loads; 0: never.
    hang_s: float = Field(default=900.0, ge=0)
    loading_s: float = Field(default=3600.0, ge=0)
    # What a person may take who has no limits of their own, see `fair_queue.limits`.
    limit_queued: int | None = Field(default=None, ge=0)
    limit_running: int | None = Field(default=None, ge=0)
    limit_stored_bytes: ByteSize | None = None
    limit_tokens_day: int | None = Field(default=None, ge=0)
    limit_dollars_day: float | None = Field(default=None, ge=0)
    patience_s: float = Field(default=1800.0, ge=0)  # how long a cell waits for its model
    engine: Literal["local", "ray"] = "local"  # where models run: in the worker, or on a cluster
    ray_address: str = ""  # of the cluster's head; "" starts a cluster on this machine alone
    ray_cores: int = Field(default=2, gt=0)  # of one actor where there is no accelerator
    # What multiplies float32 matrices on a CPU; "measured" takes the faster, see models.local.fp32.
    fp32: Literal["measured", "onednn", "blas"] = "measured"
    # Whether what a local model's self check found is kept in the data folder.
    self_checks: Literal["kept", "repeated"] = "kept"
    token_budget: int = Field(default=4096, gt=0)  # padded tokens of one forward pass
    # Hosts and networks that models added on the page may be at, "public" for every address of the
    # internet; empty: all but metadata services, on a server with accounts "public".
    endpoint_hosts: list[str] = []
    token: bool = True  # whether the pages need the access token of the printed address
    # Who is let in: "token" is for one person on one machine, "password" for accounts of this
    # server, "proxy" for those that a proxy before it names.
    auth: Literal["token", "password", "proxy"] = "token"
    # Networks of proxies whose headers are believed: who signed in, from where, over https or not.
    proxy_addresses: list[IPvAnyNetwork] = []
    proxy_user_header: str = "X-Forwarded-Preferred-Username"
    proxy_groups_header: str = "X-Forwarded-Groups"  # "": none is believed
    proxy_role: Role = "reader"  # of a person whom the proxy names for the first time
    proxy_admins: str = ""  # the group whose members are administrators; "": no group is
    log: Literal["text", "json"] = "text"  # JSON lines hold no contents
    # Who reads /metrics: who is let in and this machine itself ("token"), all, or none.
    metrics: Literal["token", "open", "off"] = "token"
    public_url: str = ""  # the address of this server in links that are printed
    # Whether workers run programs that models write, in bubblewrap: see modes.bubblewrap.
    run_code: bool = False
    # The most memory and time of computing that one request may take of a process that reads files;
    # by the clock it may take five times as long.
    parse_memory_mb: int = Field(default=4096, ge=512)
    parse_seconds: float = Field(default=120.0, gt=0)

    @model_validator(mode="after")
    def _keep_people_from_the_network_of_the_server(self) -> Self:
        if self.auth != "token" and not self.endpoint_hosts:
            self.endpoint_hosts = ["public"]
        return self

    @property
    def database(self) -> Path:
        """The SQLite file of runs, datasets and cached responses."""
        return self.data_dir / "evalui.sqlite"

    @property
    def uploads(self) -> Path:
        """Where uploaded files are kept, a folder per owner and content."""
        return self.data_dir / "uploads"

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic passes all by name
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - as above
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments win over the environment, the environment over the file."""
        return init_settings, env_settings, TomlConfigSettingsSource(settings_cls)


def read_settings() -> Settings:
    """The settings of this process; raises `SpecError` where they are wrong."""
    try:
        return Settings()
    except ValidationError as error:
        first = error.errors()[0]
        name = "_".join(str(part) for part in first["loc"])
        raise SpecError("setting", name=name.upper(), reason=first["msg"]) from error
    except tomllib.TOMLDecodeError as error:
        raise SpecError("setting-file", reason=str(error)) from error
