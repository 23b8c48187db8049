"""The tables of the store, and how stores of earlier versions become those of this one."""
