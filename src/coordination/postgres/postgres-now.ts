/**
 * The store's clock: that of the statement, not of the transaction, which may be old. Whole milliseconds, as instants have. Not qualified, as everything
 * of pg_catalog is first in line on any session that did not ask for something else.
 */
export const NOW = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';
