"""What a run comes to as tidy tables: one row is one thing, one column one property.

Charts, report.json, CSV, workbooks, Parquet, REST and the library are made of them. Names are
technical and stable in every language, shares are in per cent.
"""
