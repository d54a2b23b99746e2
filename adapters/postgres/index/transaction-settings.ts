/**
 * SQL expression that makes the transaction's commit asynchronous. What a segment is built of becomes durable
 * with the transaction that makes it visible, or a crash removes it as if it had never been written.
 */
export const ASYNC_COMMIT = `set_config('synchronous_commit', 'off', true)`

/** Ends the transaction after 2 s idle, so that a suspended process cannot hold its locks. */
export const IDLE_TIMEOUT = `SET LOCAL idle_in_transaction_session_timeout = '2s'`
