SELECT count(*) FROM order_lines;
