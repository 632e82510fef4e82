"""What a node tells a Prometheus server about itself: its counts, and what it holds at the moment of the scrape.

Each sample carries the node's name, so that a scrape which reaches another process of the same address (`--workers`, a
balancer) is not taken for this one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TypeAlias

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import choose_encoder
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from cellrace.codec import CODECS, REQUESTS
from cellrace.errors import ErrorCode
from cellrace.messages import CloseCode, RaceState
from cellrace.variants import VARIANTS
from cellrace_server.counts import Counts, Histogram
from cellrace_server.net.services import Services
from cellrace_server.net.sessions import Sessions
from cellrace_server.store.hearing import Hearing

PREFIX = "cellrace_"

Rows: TypeAlias = Mapping[str, float] | Mapping[tuple[str, ...], float]
"""A value for each label, or for each tuple of labels."""


class Metrics:
    """The metrics of one node, in a registry of their own."""

    def __init__(
        self, node: str, services: Services, sessions: Sessions, hearing: Hearing, ready: Callable[[], bool]
    ) -> None:
        self._node = node
        self._version = services.version
        self._store = services.store
        self._rooms = services.rooms
        self._sessions = sessions
        self._hearing = hearing
        self._ready = ready
        self._registry = CollectorRegistry()
        self._registry.register(self)
        self._process = ProcessCollector(registry=None)

    def page(self, accept: str) -> tuple[bytes, str]:
        """The metrics as text in the format that the `Accept` header asks for, and its content type."""
        encode, content_type = choose_encoder(accept)
        return encode(self._registry), content_type

    def collect(self) -> Iterator[Metric]:
        """All that is told."""
        yield self._gauge("node", "1; the version that runs.", {self._version: 1}, "version")
        yield self._gauge("ready", "1 while the node is ready, as /readyz says.", self._ready())
        yield from self._held()
        yield from self._connected()
        yield from self._clock()
        yield from self._counted(self._store.counts)
        yield from map(self._named, self._process.collect())

    def _named(self, family: Metric) -> Metric:
        family.samples = [sample._replace(labels={**sample.labels, "node": self._node}) for sample in family.samples]
        return family

    def _held(self) -> Iterator[Metric]:
        now = self._store.clock.now()
        states = dict.fromkeys(map(str, RaceState), 0)
        entrants = spectators = 0
        for referee in self._rooms:
            room = referee.room
            states[room.race.state(now)] += 1
            entrants += len(room.entrants_here)
            spectators += len(room.spectators)
        yield self._gauge("races", "Races that this node holds, by state.", states, "state")
        yield self._gauge("entrants", "Entrants of these races who are connected here.", entrants)
        yield self._gauge("spectators", "Connections here that watch one of these races.", spectators)

    def _connected(self) -> Iterator[Metric]:
        kinds: dict[tuple[str, ...], int] = {
            (protocol, who): 0 for protocol in CODECS for who in ("person", "bot", "unknown")
        }
        waiting = slow = 0
        for session in self._sessions:
            who = "unknown" if not session.known else "bot" if session.player.bot else "person"
            kinds[session.codec.subprotocol, who] += 1
            waiting += session.waiting
            slow += session.outbox.slow
        labels = ("subprotocol", "who")
        yield self._gauge("connections", "Open connections; unknown before their hello.", kinds, *labels)
        yield self._gauge("inbox_frames", "Frames that wait to be carried out.", waiting)
        yield self._gauge("outboxes_slow", "Connections whose client reads too slowly.", slow)
        yield self._gauge("commits_waiting", "Moves that wait for the next batch.", self._store.committer.backlog)

    def _clock(self) -> Iterator[Metric]:
        clock = self._store.clock
        text = "How far the race clock here can be from the store's."
        yield self._gauge("clock_error_bound_seconds", text, clock.error_bound / 1000)
        text = "How far the race clock here is from what the store last said."
        yield self._gauge("clock_disagreement_seconds", text, clock.disagreement / 1000)

    def _counted(self, counts: Counts) -> Iterator[Metric]:
        variants = dict.fromkeys(VARIANTS, 0)
        yield self._counter("connections_opened", "Connections opened.", counts.connections, CODECS, "subprotocol")
        kinds = Counter({kind: counts.requests[request] for kind, request in REQUESTS.items()})
        yield self._counter("requests", "Requests taken up.", kinds, (), "type")
        yield self._counter("refusals", "Errors answered.", counts.refusals, map(str, ErrorCode), "code")
        closes = _by_text(counts.closes)
        yield self._counter("closes", "Closed by the server.", closes, (str(int(c)) for c in CloseCode), "code")
        yield self._counter("evictions", "Clients let go that read too slowly.", counts.closes[CloseCode.TOO_SLOW])
        yield self._counter("takeovers", "Closed for a newer connection.", counts.closes[CloseCode.TAKEN_OVER])
        yield self._counter("http_responses", "HTTP responses.", _by_text(counts.http), (), "status")
        yield self._counter("moves", "Log entries put on record.", counts.moves)
        stages = {"judge": counts.judging, "commit": counts.committing, "answer": counts.answering}
        text = "Stages of a move: arrival to judged, to committed, to answered."
        yield self._histogram("move_stage_seconds", text, stages, "stage")
        yield self._histogram("batch_size", "Messages of moves in a call of the store.", {"": counts.batches})
        yield self._histogram("batch_seconds", "Length of such a call.", {"": counts.round_trips})
        yield self._counter("races_begun", "Countdowns begun by this node.", counts.begun, variants, "variant")
        yield self._counter("races_ended", "Races over, as this node wrote.", counts.over, variants, "variant")
        yield self._counter("races_cancelled", "Races cancelled by this node.", counts.cancelled, variants, "variant")
        yield self._counter("deals_drawn", "Deals drawn for races.", counts.drawn, variants, "variant")
        yield self._counter("no_deal", "Draws that found no deal.", counts.no_deal, variants, "variant")
        yield self._counter("resyncs", "Records of races read anew.", counts.resyncs)
        yield self._counter("sweeps", "Looks at the races that are due.", counts.sweeps)
        yield self._counter("races_due", "Races that these found due.", counts.due)
        yield self._counter("store_errors", "Calls that the store did not answer.", counts.store_errors)
        yield self._counter("subscription_losses", "Losses of the subscription.", self._hearing.losses)

    def _gauge(self, name: str, text: str, value: float | Rows, *labels: str) -> Metric:
        family = GaugeMetricFamily(PREFIX + name, text, labels=(*labels, "node"))
        for row, number in _rows(value):
            family.add_metric((*row, self._node), number)
        return family

    def _counter(
        self, name: str, text: str, value: float | Counter[str], known: Iterable[str] = (), label: str = ""
    ) -> Metric:
        """A counter; each known label is told from the beginning, so that its first increase is seen as one."""
        rows = value if isinstance(value, int | float) else {**dict.fromkeys(known, 0), **value}
        family = CounterMetricFamily(PREFIX + name, text, labels=(*([label] if label else ()), "node"))
        for row, number in _rows(rows):
            family.add_metric((*row, self._node), number)
        return family

    def _histogram(self, name: str, text: str, histograms: Mapping[str, Histogram], label: str = "") -> Metric:
        family = HistogramMetricFamily(PREFIX + name, text, labels=(*([label] if label else ()), "node"))
        for key, histogram in histograms.items():
            family.add_metric((*([key] if label else ()), self._node), _cumulated(histogram), histogram.total)
        return family


def _rows(value: float | Rows) -> list[tuple[tuple[str, ...], float]]:
    if isinstance(value, int | float):
        return [((), value)]
    return [((key,) if isinstance(key, str) else key, number) for key, number in value.items()]


def _by_text(numbers: Counter[int]) -> Counter[str]:
    return Counter({str(int(code)): count for code, count in numbers.items()})


def _cumulated(histogram: Histogram) -> list[tuple[str, float]]:
    buckets: list[tuple[str, float]] = []
    so_far = 0
    for bound, count in zip((*map(str, histogram.bounds), "+Inf"), histogram.counts, strict=True):
        so_far += count
        buckets.append((bound, so_far))
    return buckets
