"""Many machines: ranks of MPI, each with all its threads. Started as `python -m mpi4py -m anon_core.engines.mpi JOB_DIR`."""
