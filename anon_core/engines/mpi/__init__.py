"""Many machines: MPI ranks with threads; `python -m mpi4py -m anon_core.engines.mpi JOB_DIR`."""
