from evalui.runs.database.records import LOCAL, may_see


def test_an_owner_sees_what_is_theirs() -> None:
    assert may_see(LOCAL, LOCAL)


def test_no_user_sees_what_belongs_to_another() -> None:
    assert not may_see("ada", "bob")
