"""The care of a store and its folder: room on the disk, old runs, copies, figures for a monitor."""
