"""A model of the store in this process: the commands that are used, the real functions, replication and failover."""
