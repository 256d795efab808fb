"""How work is spread, whatever the work: threads, a Dask cluster, MPI ranks. The same bytes."""
