"""Work of tiled products is parted so that all threads have as much to do."""

import pytest

from mycelia.loops import TileKind
from mycelia.runtime.tiles import JOB_COLUMNS, MANY, _jobs
from mycelia.types import float64

KIND = TileKind(float64, float64, float64, 6, 2, 4)


@pytest.mark.parametrize("threads", [1, 2, 3, 4, 6])
@pytest.mark.parametrize("batch", [1, 2, 3, 5, 12])
@pytest.mark.many("columns", [512, 1024, 2048, 3000, 9000])
def test_threads_have_as_many_jobs_or_many(batch, columns, threads):
    rows = 600
    job_rows, job_columns = _jobs(batch, rows, columns, KIND, threads)
    assert job_rows % KIND.rows == job_columns % KIND.columns == 0
    assert job_columns <= -(-JOB_COLUMNS // KIND.columns) * KIND.columns
    jobs = batch * -(-columns // job_columns) * -(-rows // job_rows)
    per_thread = -(-jobs // threads)
    idle = per_thread * threads - jobs  # turns in which some thread has nothing to do
    assert jobs >= threads
    assert idle == 0 or per_thread > MANY or idle * (MANY - 1) < jobs, f"{jobs} jobs for {threads} threads"
