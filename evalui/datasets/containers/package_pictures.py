"""The pictures in the package of a workbook: pasted on its sheets, or placed in cells.

ECMA-376 part 1, 20.5 has the drawings that anchor pictures to cells, [MS-XLSX] the rich values that
place one in a cell. WPS keeps those of cells in a part of its own, and a formula names each.
"""

import re
import zipfile
from collections.abc import Iterator, Mapping
from functools import cached_property
from importlib import import_module
from typing import Any

from evalui.datasets.containers.sheets import SheetPicture
from evalui.datasets.picture_files import UnreadablePicture, current_folder
from evalui.messages import Sentence, sentence
from evalui.pictures import Mark

_ANCHORS = ("oneCellAnchor", "twoCellAnchor", "absoluteAnchor")
_METADATA, _CELL_IMAGES = "xl/metadata.xml", "xl/cellimages.xml"
_VALUES, _STRUCTURES = "xl/richdata/rdrichvalue.xml", "xl/richdata/rdrichvaluestructure.xml"
_RELATED_TO_VALUES = "xl/richdata/richvaluerel.xml"
_LOCAL_IMAGE = "_rvRel:LocalImageIdentifier"  # the key of a value that is a picture of the package
_WEB_IMAGE = "_webimage"  # the kind of a value that is the address of one
_NAMED_BY_WPS = re.compile(r'=?(?:_xlfn\.)?DISPIMG\("([^"]+)",\s*\d+\)')


class PackagePictures:
    """The pictures of one workbook; each is read once, however often it is shown."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._packaging: Any = import_module("openpyxl.packaging.relationship")
        self._xml: Any = import_module("openpyxl.xml.functions")
        self._names = {name.lower().removeprefix("/"): name for name in archive.namelist()}
        self._read: dict[str, Mark | Sentence] = {}

    def pasted_on(self, sheet: str) -> list[SheetPicture]:
        """The pictures on the sheet of this part, in the order of their places."""
        pasted: list[tuple[tuple[int, ...], SheetPicture]] = []
        for drawing in self._related(sheet, "/drawing").values():
            related = self._related(drawing, "/image")
            for anchor in self._elements(drawing, *_ANCHORS):
                start = {_local(each): int(each.text or 0) for each in _start(anchor)}
                line, column = start.get("row", -1) + 1, start.get("col", 0)
                place = (line, column, start.get("colOff", 0), start.get("rowOff", 0))
                for blip in _within(anchor, "blip"):
                    picture = self._picture(related.get(_relation(blip), ""))
                    pasted.append((place, SheetPicture(line, column, picture)))
        return [picture for _, picture in sorted(pasted, key=lambda each: each[0])]

    def placed(self, metadata: str) -> Mark | Sentence | None:
        """The picture that is the value of a cell with this metadata, None for other values."""
        target = self._targets.get(int(metadata))
        return None if target is None else self._picture(target)

    def named(self, text: str) -> Mark | Sentence | None:
        """The picture that a formula of WPS names, None if the text is no such formula."""
        formula = _NAMED_BY_WPS.fullmatch(text.strip()) if "DISPIMG(" in text else None
        return self._picture(self._of_wps.get(formula[1], "")) if formula else None

    @cached_property
    def _targets(self) -> Mapping[int, str | None]:
        """For each metadata of values the part that is shown, "" for none of this package."""
        kinds = [each.get("name") for each in self._elements(_METADATA, "metadataType")]
        rich = [
            next((int(value.get("i")) for value in _within(block, "rvb")), -1)
            for blocks in self._elements(_METADATA, "futureMetadata")
            if blocks.get("name") == "XLRICHVALUE"
            for block in _within(blocks, "bk")
        ]
        shown = dict(enumerate(self._targets_of_values()))
        records = (
            record
            for blocks in self._elements(_METADATA, "valueMetadata")
            for record in _within(blocks, "rc")
        )
        return {
            number: shown.get(rich[int(record.get("v"))])
            for number, record in enumerate(records, start=1)
            if kinds[int(record.get("t")) - 1] == "XLRICHVALUE"
        }

    def _targets_of_values(self) -> Iterator[str | None]:
        """The same for each rich value."""
        structures = list(self._elements(_STRUCTURES, "s"))
        relations = [_relation(each) for each in self._elements(_RELATED_TO_VALUES, "rel")]
        related = self._related(_RELATED_TO_VALUES, "/image")
        for value in self._elements(_VALUES, "rv"):
            structure = structures[int(value.get("s"))]
            fields = {key.get("n"): each for key, each in zip(structure, value, strict=False)}
            if structure.get("t") == _WEB_IMAGE:
                yield ""
            elif _LOCAL_IMAGE in fields:
                yield related.get(relations[int(fields[_LOCAL_IMAGE].text)], "")
            else:
                yield None

    @cached_property
    def _of_wps(self) -> Mapping[str, str]:
        """The parts of the pictures by the names that formulas have for them."""
        related = self._related(_CELL_IMAGES, "/image")
        return {
            named.get("name"): related.get(_relation(blip), "")
            for image in self._elements(_CELL_IMAGES, "cellImage")
            for named in _within(image, "cNvPr")
            for blip in _within(image, "blip")
        }

    def _related(self, part: str, kind: str) -> Mapping[str, str]:
        """The parts that a part names, by their relations; addresses outside are none."""
        path = self._names.get(self._packaging.get_rels_path(part).lower())
        if path is None:
            return {}
        return {
            each.Id: each.target.removeprefix("/")
            for each in self._packaging.get_dependents(self._archive, path)
            if each.Type.endswith(kind) and each.TargetMode != "External"
        }

    def _elements(self, part: str, *names: str) -> Iterator[Any]:
        """The elements of these names in a part, which need not be there."""
        if path := self._names.get(part.lower()):
            yield from _within(self._xml.fromstring(self._archive.read(path)), *names)

    def _picture(self, target: str) -> Mark | Sentence:
        path = self._names.get(target.lower())
        if path is None:
            return sentence("error.picture-not-in-file")
        if path not in self._read:
            try:
                self._read[path] = current_folder().add(self._archive.read(path))
            except UnreadablePicture as unreadable:
                self._read[path] = unreadable.reason
        return self._read[path]


def _start(anchor: Any) -> Iterator[Any]:
    """The numbers of the cell at which a picture begins; none of an absolute anchor."""
    for each in anchor:
        if _local(each) == "from":
            yield from each


def _within(element: Any, *names: str) -> Iterator[Any]:
    return (each for each in element.iter() if _local(each) in names)


def _relation(element: Any) -> str:
    """The relation that an element names, in whatever namespace."""
    named = (text for name, text in element.items() if name.endswith(("}embed", "}id")))
    return next(named, "")


def _local(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]
