-- The indexes of 2020, table 6.7: a key of the fact table, its foreign keys, and the keys that they
-- refer to.
CREATE INDEX idx_lo_pkey ON lineorder (lo_orderkey, lo_linenumber);
CREATE INDEX idx_lo_partkey ON lineorder (lo_partkey);
CREATE INDEX idx_lo_custkey ON lineorder (lo_custkey);
CREATE INDEX idx_lo_suppkey ON lineorder (lo_suppkey);
CREATE INDEX idx_lo_orderdate ON lineorder (lo_orderdate);
CREATE INDEX idx_c_custkey ON customer (c_custkey);
CREATE INDEX idx_p_partkey ON part (p_partkey);
CREATE INDEX idx_s_suppkey ON supplier (s_suppkey);
CREATE INDEX idx_d_datekey ON date (d_datekey);
