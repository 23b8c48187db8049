"""What a run comes to as tidy tables: one row is one thing, one column one property.

Page charts, report.json, CSV, workbooks, Parquet, REST and the library read these frames and
nothing else. Names are technical and stable in every language, shares are in per cent.
"""
