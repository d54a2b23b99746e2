/** Ends the transaction after 2 s idle, so that a suspended process cannot hold its locks. */
export const IDLE_TIMEOUT = `SET LOCAL idle_in_transaction_session_timeout = '2s'`
