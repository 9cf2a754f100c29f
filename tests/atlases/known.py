"""Atlas folders with known maps."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from headatlas.atlas import writing
from headatlas.atlas.atlas import Atlas
from headatlas.atlas.declarations import MethodInfo, TestInfo
from headatlas.atlas.records import AT_CHANCE, COMPETENT, Competence, Diagnostic, Evidence, HeadMap
from headatlas.atlas.run_record import (
    Asked,
    AuditRecord,
    CellCounts,
    MapSettings,
    ModelRecord,
    Quantity,
    RunRecord,
    SuiteRecord,
    Verification,
    write_run,
)
from headatlas.evidence import TESTS
from headatlas.methods import METHODS
from headatlas.noise import Noise, noise_of
from headatlas.stats import Summary, estimate, summarise
from headatlas.workflows.presets import PRESETS

SETTINGS_KEY = "5e771465"  # of the one set of settings that made-up tests were run with


@dataclass
class Known:
    """A map by its values [layer, head] and errors; heads with NaN values are left out of the atlas."""

    value: np.ndarray
    stderr: np.ndarray | None = None
    p: np.ndarray | None = None
    groups: int = 1000
    method: str = "attribute"
    measure: str = ""  # the method's primary one unless given
    seed: int = 0
    task: str = "Task"
    noise: Noise | None = None  # of the heads that have values

    def __post_init__(self) -> None:
        self.measure = self.measure or METHODS[self.method].info.primary


def measured(
    effect: np.ndarray, noise: np.ndarray | float, rng: np.random.Generator, groups: int = 24, **more
) -> Known:
    """A map as it is measured: effects, and noise averaged over groups of examples, with its estimated error."""
    examples = effect.ravel() + np.sqrt(groups) * np.broadcast_to(noise, effect.shape).ravel() * rng.standard_normal(
        (groups, effect.size)
    )
    return from_examples(examples, effect.shape, **more)


def from_examples(effects: np.ndarray, shape: tuple[int, int], examples: str = "", **more) -> Known:
    """A map from effects of single examples [example, layer * head], named `examples`; every example is a group."""
    groups = [str(i) for i in range(len(effects))]
    summary, noise = summarise(effects, groups), noise_of(effects, groups, examples)
    columns = (summary.mean.reshape(shape), summary.stderr.reshape(shape), summary.p_value.reshape(shape))
    return Known(*columns, groups=len(effects), noise=noise, **more)


def write_atlas(
    path: Path,
    maps: Sequence[Known],
    kv_heads: int | None = None,
    competence: Sequence[Competence] | None = None,
    evidence: Mapping[str, Sequence[Evidence]] | None = None,
    diagnostics: Sequence[Diagnostic] | None = None,
    *,
    methods: Sequence[MethodInfo] = (),
    tests: Sequence[TestInfo] = (),
    audit: Sequence[AuditRecord] = (),
    quantities: Mapping[str, Mapping[str, Quantity]] | None = None,
    doubts: Mapping[str, Mapping[str, str]] | None = None,
    name: str = "made-up",
    fingerprint: str = "0" * 16,
) -> Atlas:
    """An atlas of these maps, opened. Tasks are competent unless `competence` has entries for them.

    `evidence` holds rows by the method whose maps were tested. `methods` and `tests` are declarations of those that
    are not registered; methods without maps, such as attention, are declared where they have diagnostics.
    """
    path.mkdir(parents=True, exist_ok=True)
    tasks = list(dict.fromkeys(known.task for known in maps))
    entries = list(competence or [competent(task) for task in tasks])
    infos = _method_infos(maps, diagnostics or (), methods)
    rows = {method: list(rows) for method, rows in (evidence or {}).items()}
    layers, heads = maps[0].value.shape
    write_run(
        path,
        RunRecord(
            asked=Asked(model=name, suite="cognitive", command="headatlas map"),
            model=ModelRecord(
                name=name, type="llama", fingerprint=fingerprint, layers=layers, heads=heads,
                kv_heads=kv_heads or heads, head_dim=8, dtype="float32", device="cpu",
            ),
            suite=SuiteRecord(
                name="cognitive", fingerprint="1" * 16, tasks=[entry.task for entry in entries],
                examples={"fit": 48, "choose": 16, "evaluate": 32},
            ),
            settings=MapSettings(
                preset="standard",
                limits={"fit": 48, "choose": 16, "evaluate": 32},
                methods={info.name: {"baseline": "mean"} for info in infos},
            ),
            versions={"headatlas": "0.1.0", "torch": "2.13.0", "python": "3.11.7"},
            audit=list(audit),
            started="2026-01-01T00:00:00+00:00",
            finished="2026-01-01T00:01:00+00:00",
            seconds=60.0,
            cells=CellCounts(computed=1, reused=0),
            methods=infos,
            quantities={method: dict(by_task) for method, by_task in (quantities or {}).items()},
            doubts={method: dict(by_task) for method, by_task in (doubts or {}).items()},
            default_method=_default_method(maps, infos),
            tests=_test_infos((row.test for method_rows in rows.values() for row in method_rows), tests),
            verifications=_verifications(rows),
        ),
    )  # fmt: skip
    head_maps = [_head_map(known) for known in maps]
    writing.write_scores(path, name, head_maps, infos)
    if any(known.noise is not None for known in maps):
        writing.write_noise(path, name, head_maps)
    writing.write_competence(path, entries)
    if diagnostics is not None:
        writing.write_diagnostics(path, name, diagnostics)
    if evidence is not None:
        writing.write_evidence(
            path,
            [
                {"model": name, "method": method, "settings": SETTINGS_KEY, **asdict(row)}
                for method, method_rows in rows.items()
                for row in method_rows
            ],
        )
    return Atlas(path)


def competent(task: str, able: bool = True, mapped: bool | None = None) -> Competence:
    """The competence of a task; one at chance is not mapped unless told so."""
    numbers = {"accuracy": 0.8, "low": 0.7, "high": 0.9} if able else {"accuracy": 0.3, "low": 0.2, "high": 0.4}
    mapped = able if mapped is None else mapped
    return Competence(
        task=task, items=96, chance=0.25, logprob=-2.0, margin=1.0, exact=0.5, mapped=96 if mapped else 0,
        verdict=COMPETENT if able else AT_CHANCE, **numbers,
    )  # fmt: skip


def _method_infos(
    maps: Sequence[Known], diagnostics: Iterable[Diagnostic], given: Sequence[MethodInfo]
) -> list[MethodInfo]:
    """Declarations of all methods, each with the measures that it has maps of."""
    declared = {info.name: info for info in given}
    infos = []
    for method in dict.fromkeys([*(known.method for known in maps), *(entry.method for entry in diagnostics)]):
        info = declared.get(method) or METHODS[method].info
        if mapped := {known.measure for known in maps if known.method == method}:
            kept = tuple(measure for measure in info.measures if measure.name in mapped)
            info = info.model_copy(update={"measures": kept})
        infos.append(info)
    return infos


def _test_infos(names: Iterable[str], given: Sequence[TestInfo]) -> list[TestInfo]:
    declared = {info.name: info for info in given}
    return [declared.get(name) or TESTS[name].info for name in dict.fromkeys(names)]


def _default_method(maps: Sequence[Known], infos: Sequence[MethodInfo]) -> str:
    """Of the methods that mapped every head, the one with the highest priority; else of all that made maps."""

    def rank(info: MethodInfo) -> tuple[bool, int]:
        return all(np.isfinite(known.value).all() for known in maps if known.method == info.name), info.priority

    with_maps = {known.method for known in maps}
    return max((info for info in infos if info.name in with_maps), key=rank).name


def _verifications(rows: Mapping[str, Sequence[Evidence]]) -> list[Verification]:
    settings = asdict(PRESETS["standard"].tests)
    return [
        Verification(
            key=SETTINGS_KEY, method=method, test=test, settings=settings, finished="2026-01-01T00:02:00+00:00"
        )
        for method, method_rows in rows.items()
        for test in dict.fromkeys(row.test for row in method_rows)
    ]


def _head_map(known: Known) -> HeadMap:
    is_measured = np.isfinite(known.value)
    heads = [(int(layer), int(head)) for layer, head in np.argwhere(is_measured)]
    missing = np.full_like(known.value, np.nan)
    columns = [known.value, *(missing if column is None else column for column in (known.stderr, known.p))]
    value, stderr, p = (column[is_measured] for column in columns)
    noise = known.noise
    if noise is not None and noise.parts.shape[1] > len(heads):
        noise = replace(noise, parts=noise.parts[:, is_measured.ravel()])
    return HeadMap(
        known.method, known.measure, known.task, known.seed, tuple(heads), _summary(value, stderr, p, known.groups),
        noise,
    )  # fmt: skip


def _summary(value: np.ndarray, stderr: np.ndarray, p: np.ndarray, groups: int) -> Summary:
    """Student's interval around a value; p as given."""
    return replace(estimate(value, stderr, np.full(len(value), groups - 1.0), groups), p_value=p)
