"""C functions for a server: what compiles them (PGXS), and their compilation."""

from __future__ import annotations

import shutil
from pathlib import Path

from teiten.errors import ServerError
from teiten.execute.postgres.inspection import ask_pg_config
from teiten.execute.postgres.programs import run_program
from teiten.host.system.environment import Inherited
from teiten.host.system.held_folder import HeldFolder
from teiten.host.system.users import server_user
from teiten.model.installation import Installation, ModuleTools, Version
from teiten.model.study import Script
from teiten.model.text import Bilingual

NOT_HERE = ModuleTools(
    None,
    Bilingual(
        "C functions are compiled only for servers of this machine that Teiten starts",
        "C関数をコンパイルするのは、Teitenが本マシンで起動するサーバに限られる",
    ),
)
"""The answer for a server that is attached, or on another host."""
HINT = "see what the compiler says; the method can be left out: --set method=…"
MAKEFILE = """\
MODULES = {name}
PG_CONFIG = {pg_config}
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)
"""


def module_tools(installation: Installation) -> ModuleTools:
    """Look for PGXS in an installation of this machine. Starts its ``pg_config``, no server."""
    if installation.postgres is None:
        return NOT_HERE
    pg_config = installation.bin_directory / "pg_config"
    if not pg_config.is_file():
        return ModuleTools(None, _headers(installation.version, "pg_config"))
    for option, file in (("--pgxs", ""), ("--includedir-server", "postgres.h")):
        named = ask_pg_config(pg_config, option, installation.library_path)
        wanted = pg_config if named is None else Path(named, file)
        if named is None or not wanted.is_file():
            return ModuleTools(None, _headers(installation.version, str(wanted)))
    for program in ("make", "cc"):
        if shutil.which(program) is None:
            lacking = Bilingual(
                f"{program} is not installed", f"{program}がインストールされていない"
            )
            return ModuleTools(None, lacking)
    return ModuleTools(pg_config, None)


def build_module(installation: Installation, source: Script, folder: Path) -> Path:
    """Compile a C file in a folder that is made anew, and return the library's absolute path.

    It runs as the servers' user: what a study's source includes, that user may read. Raises
    ServerError with what the compiler said.
    """
    tools = module_tools(installation)
    if tools.pg_config is None:
        reason = tools.lacking.en if tools.lacking else ""
        raise ServerError(f"{source.name} cannot be compiled: {reason}", HINT)
    name, user = source.name.removesuffix(".c"), server_user()
    makefile = MAKEFILE.format(name=name, pg_config=tools.pg_config)
    with HeldFolder.open_or_make(folder.absolute().parent) as outer:
        outer.remove(folder.name)  # of a campaign that is resumed
        held = outer.make(folder.name, 0o755)
    with held:
        held.write(source.name, source.text.encode(), mode=0o644)
        held.write("Makefile", makefile.encode(), mode=0o644)
        held.give_all(user)
    run_program(
        ("make", "-C", folder.absolute(), "with_llvm=no", f"{name}.so"),
        what=f"compiling {source.name} for {installation.name}",
        user=user,
        inherited=Inherited.COMPILER,
        hint=HINT,
    )
    return (folder / f"{name}.so").absolute()


def _headers(version: Version, missing: str) -> Bilingual:
    major = version.major
    debian, red_hat = f"postgresql-server-dev-{major}", f"postgresql{major.replace('.', '')}-devel"
    return Bilingual(
        f"{missing} is missing; install the server's headers of PostgreSQL {major} (Debian and"
        f" Ubuntu: {debian}; Red Hat: {red_hat})",
        f"{missing}がない。PostgreSQL {major}のサーバ用ヘッダファイルをインストールすればよい"
        f"（Debian、Ubuntu: {debian}、Red Hat: {red_hat}）",
    )
