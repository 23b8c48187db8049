"""A model breaks; the others go on."""

from flow_examples import TRIALS, Office

from evalui.runs.database import queue
from evalui.runs.database.runs import read_cells, read_run


def test_a_broken_model_fails_its_cell_and_the_others_are_done(office: Office) -> None:
    office.hire("broken", log=str(office.folder / "no" / "folder"))
    office.hire("third", delay=0)
    run_id = office.queue("biased", "broken", "third")
    office.start_worker()
    run = office.wait_for(run_id, lambda run: run.state == "failed")
    first, broken, third = read_cells(office.database, run_id)
    assert (first.state, broken.state, third.state) == ("done", "failed", "done")
    assert broken.error.startswith("An unexpected error ended this: FileNotFoundError: ")
    assert run.error == broken.error
    assert 'File "' in broken.traceback
    assert "in _log_request" in broken.traceback
    assert (first.done, third.done) == (TRIALS, TRIALS)


def test_a_mended_model_does_its_cell_and_no_other_is_asked_again(office: Office) -> None:
    office.hire("broken", delay=0, log=str(office.folder / "no" / "folder"))
    run_id = office.queue("biased", "broken")
    assert office.work_here()
    (office.folder / "no").mkdir()
    queue.resume(office.database, run_id)
    assert office.work_here()
    assert read_run(office.database, run_id).state == "done"
    assert len(office.answered("biased")) == TRIALS
    assert read_run(office.database, run_id).done == 2 * TRIALS
