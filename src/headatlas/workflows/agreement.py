"""Workers that compute with other versions or devices would compute other cells: they are refused."""

from __future__ import annotations

from importlib.metadata import version

from headatlas.errors import HeadAtlasError
from headatlas.run.context import RunContext
from headatlas.run.store import AGREED, Store


def environment_of(context: RunContext) -> dict[str, str]:
    """All that must be the same for all workers of a map: what cells depend on, and what chooses the next ones."""
    return {**context.environment, **{name: version(name) for name in ("headatlas", "numpy", "scipy")}}


def agree(store: Store, environment: dict[str, str]) -> bool:
    """Refuse to work with an environment that is not that of the others. False where the map is done."""
    agreed = store.agree(environment)
    if agreed is None:
        return False
    for name, value in environment.items():
        if agreed.get(name) != value:
            raise HeadAtlasError(
                f"This process would compute other cells than the other workers of this map: {name} is {value} here, "
                f"and {agreed.get(name)} there. Use the same model, versions and kind of device everywhere. If no "
                f"other worker lives any more, remove work/{AGREED} in the folder of the atlas; finished cells stay."
            )
    return True
