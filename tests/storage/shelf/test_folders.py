"""A shelf in a local folder: how a version appears."""

import pytest

from crowdcover.storage.shelf.folders import FolderShelf


@pytest.mark.parametrize("taken", ["file", "empty", "full", "link"])
def test_a_version_replaces_nothing(tmp_path, taken):
    shelf, place = FolderShelf(tmp_path / "people"), tmp_path / "people" / "v1"
    aside = shelf.aside("v1", "run", tmp_path)
    (aside / "manifest.json").write_text("mine")
    if taken == "file":
        place.touch()
    elif taken == "link":
        place.symlink_to("nowhere")
    else:
        place.mkdir()
    if taken == "full":
        (place / "manifest.json").write_text("theirs")
    before = place.lstat()
    with pytest.raises(FileExistsError):
        shelf.commit(aside, "v1")
    assert place.lstat() == before
    assert (aside / "manifest.json").read_text() == "mine"


def test_a_version_that_appears_at_the_last_moment_stays(tmp_path, monkeypatch):
    shelf, place = FolderShelf(tmp_path / "people"), tmp_path / "people" / "v1"
    aside = shelf.aside("v1", "run", tmp_path)
    place.mkdir()
    (place / "manifest.json").write_text("theirs")
    monkeypatch.setattr("os.path.lexists", lambda _: False)
    with pytest.raises(FileExistsError):
        shelf.commit(aside, "v1")
    assert (place / "manifest.json").read_text() == "theirs"
