"""Where work is done: here, in several processes, on a Ray cluster; and how runs are cut up."""
