"""Run batches in worker processes."""

from mlaut.experiments.workers.batches import BatchQueue
from mlaut.experiments.workers.pool import Team, run_batches


class AllAtOnce(BatchQueue):
    """Gives each group as one batch, so that cells share the fate of their process."""

    def _seconds_of_cell(self, group):
        return self._seconds / (2 * len(group.cells))


def run(batch, timeout=None, n_workers=1):
    with Team(threads=1) as team:
        queue = AllAtOnce([batch])
        return sorted(
            (o for part in run_batches(queue, team, n_workers, timeout) for o in part),
            key=lambda outcome: outcome.cell,
        )


def words(outcomes):
    return [outcome.status.word for outcome in outcomes]


def predictions(outcomes):
    return [o.predictions.tobytes() for o in sorted(outcomes, key=lambda o: o.cell)]
