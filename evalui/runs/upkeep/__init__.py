"""The care of a store and its folder: room on the disk, age, copies, figures for a monitor."""
