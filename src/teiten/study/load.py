"""From a study's name or file, a profile and the command line to a ``Study``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from teiten.model.study import Study, StudySummary
from teiten.study.build import build
from teiten.study.changes import Change, from_command_line
from teiten.study.document import Document, catalogue_names, read_document
from teiten.study.draft import Draft
from teiten.study.profiles import apply_profile
from teiten.study.values import titled


def load_study(
    reference: str,
    *,
    profile: str | None = None,
    servers: Sequence[str] = (),
    overrides: Sequence[str] = (),
    gucs: Sequence[str] = (),
    blocks: int | None = None,
    delta: str | None = None,
    alpha: str | None = None,
    until_decided: bool = False,
    budget: str | None = None,
    source: str | None = None,
    flame_graph: bool = False,
    queries: str | None = None,
    workload: str | None = None,
    memory: str | None = None,
    storage: Iterable[str] = (),
) -> Study:
    """Read a study and change it as the profile and the flags say.

    ``servers``: the levels of the factor server, each perhaps several between commas.
    ``overrides``: ``KEY=VALUE`` of ``--set``; ``gucs``: ``NAME=VALUE`` of ``--guc``; ``delta`` and
    ``alpha`` as written (``2%``); ``until_decided``: sequentially, within ``budget`` (``30m``).
    ``source``: of the study's builds that name none; ``queries``: a folder whose queries take the
    place of the study's; ``workload``: a script beside the study's own workloads; ``memory``: as
    written (``2GiB``); ``storage``: ``NAME=DIR``.
    What the profile leaves to the machine is None or an empty tuple; ``plan.sizing`` fills it.
    Raises UsageError (a flag) or StudyError (the file).
    """
    changes = from_command_line(
        servers=servers,
        overrides=overrides,
        gucs=gucs,
        blocks=blocks,
        delta=delta,
        alpha=alpha,
        until_decided=until_decided,
        budget=budget,
        source=source,
        flame_graph=flame_graph,
        queries=queries,
        workload=workload,
        memory=memory,
        storage=storage,
    )
    return study_of(read_document(reference), changes, profile=profile)


def study_of(document: Document, changes: Sequence[Change], *, profile: str | None = None) -> Study:
    """A study file with a profile and further changes. Raises as ``load_study`` does."""
    draft = Draft(document)
    chosen = apply_profile(draft, document, profile)
    for change in changes:
        draft.apply(change)
    texts = tuple(each.text for each in changes if each.text)
    return build(draft, document, profile=chosen, overrides=texts)


def catalogue() -> tuple[StudySummary, ...]:
    """The built-in studies, by name."""
    return tuple(summary(read_document(name)) for name in catalogue_names())


def summary(document: Document) -> StudySummary:
    """A study in one line."""
    study = document.tables.study
    return StudySummary(
        name=study.name,
        title=titled(study.title, study.name),
        question=study.question,
        sources=study.sources,
        profiles=tuple(document.tables.profiles),
    )
