"""A session that times statements, and what is compared and noted of them."""
