SELECT count(*) FROM lineorder;
