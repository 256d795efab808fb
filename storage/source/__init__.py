"""Files and databases into frames of raw columns; knows no kind of data and no Prefect."""
