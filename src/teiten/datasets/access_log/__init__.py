"""The access log of the report of 2013, and the products that it names."""
