"""References from objects of a cluster to what AWS has: drivers that are add-ons, ids of file systems."""
