"""The engine whose devices are spread over processes of MPI."""
