"""A comparison of two plans as one HTML file that works offline."""

from __future__ import annotations

from markupsafe import Markup

from teiten.analysis.model.explain import PlanDifference
from teiten.model.text import Language
from teiten.report.html import asset, environment, policy
from teiten.report.plans.view import difference_view
from teiten.report.plans.viewer import SCRIPT, STYLE, packed, script
from teiten.report.texts import texts

SCRIPTS = ("tables.js", "plans.js")
START = "makeTablesSortable();\nstartPlans();\n"


def render_difference(
    found: PlanDifference, sides: tuple[str, str], language: Language, teiten_version: str
) -> str:
    """The page; both plans can be opened side by side in pev2."""
    own = "\n".join((*(asset(name) for name in SCRIPTS), START))
    return (
        environment()
        .get_template("plans.html.j2")
        .render(
            view=difference_view(found, sides, language),
            t=texts(language),
            language=language,
            teiten_version=teiten_version,
            style=Markup(asset("report.css")),  # noqa: S704 - Teiten's own text
            script=Markup(own),  # noqa: S704
            viewer_script=packed(SCRIPT),
            viewer_style=packed(STYLE),
            policy=policy(own, script()),
        )
    )
