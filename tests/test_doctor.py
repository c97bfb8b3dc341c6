"""`python -m mycelia.doctor` tells what is there, and what does not work."""

from mycelia import doctor


def test_here_all_is_well(capsys):
    assert doctor.main() == 0
    told = capsys.readouterr().out
    assert told.endswith("all is well\n")
    for name in doctor.CHECKS:
        assert f"\n{name}" in f"\n{told}"


def test_what_does_not_work_is_told_and_the_rest_is_looked_at(monkeypatch, capsys):
    def broken():
        yield "so far"
        raise OSError("no space left")

    monkeypatch.setitem(doctor.CHECKS, "cache", broken)
    monkeypatch.delitem(doctor.CHECKS, "library")
    assert doctor.main() == 1
    told = capsys.readouterr().out
    assert "DOES NOT WORK: OSError: no space left" in told
    assert "compiler" in told
    assert told.endswith("1 of 4 do not work\n")
