-- The collation "C" compares names byte by byte, so that no two spellings are one customer.
CREATE TABLE IF NOT EXISTS customers (
  name text COLLATE "C" PRIMARY KEY,
  password_hash text NOT NULL,
  -- The most bytes the customer may keep; NULL for no limit.
  quota bigint CHECK (quota BETWEEN 0 AND 9007199254740991),
  -- The most files the customer may keep; NULL for no limit.
  max_files integer CHECK (max_files >= 0)
);
