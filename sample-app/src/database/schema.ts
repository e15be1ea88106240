/**
 * Deliberately no constraint that would hide a second run: neither a fire in the ledger nor an order among the invoices is
 * unique. The shop relies on each fire running once, and the demo counts what happens if one does not.
 */
export const SCHEMA = `
CREATE TABLE IF NOT EXISTS item (
  sku TEXT PRIMARY KEY,
  price_cents INTEGER NOT NULL,
  on_hand INTEGER NOT NULL,
  counted_up_to INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE IF NOT EXISTS shop_order (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  reference TEXT NOT NULL UNIQUE,
  sku TEXT NOT NULL REFERENCES item (sku),
  quantity INTEGER NOT NULL,
  placed_ms INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS invoice (
  number INTEGER PRIMARY KEY,
  order_id INTEGER NOT NULL REFERENCES shop_order (id),
  amount_cents INTEGER NOT NULL,
  fire_key TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS invoice_by_order ON invoice (order_id);
CREATE INDEX IF NOT EXISTS invoice_by_fire ON invoice (fire_key);
CREATE TABLE IF NOT EXISTS parcel (
  order_id INTEGER NOT NULL REFERENCES shop_order (id),
  fencing_token INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS parcel_by_order ON parcel (order_id);
CREATE INDEX IF NOT EXISTS parcel_by_token ON parcel (fencing_token);
CREATE TABLE IF NOT EXISTS stock_booking (
  sku TEXT NOT NULL REFERENCES item (sku),
  sold INTEGER NOT NULL,
  fire_key TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS daily_report (
  fire_key TEXT NOT NULL,
  orders INTEGER NOT NULL,
  revenue_cents INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS job_run (
  fire_key TEXT NOT NULL,
  replica TEXT NOT NULL,
  pid INTEGER NOT NULL,
  started_ms INTEGER NOT NULL
);
INSERT INTO item (sku, price_cents, on_hand) VALUES ('mug', 1290, 10000), ('teapot', 3450, 10000), ('kettle', 5900, 10000)
  ON CONFLICT DO NOTHING;
`;
