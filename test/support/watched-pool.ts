import pg from 'pg'

/** Sends the statement. If `otherText` is given, sends that text without parameters instead. */
export type SendStatement = (otherText?: string) => Promise<unknown>

/** A pool that passes each statement of its connections to `act`. The result of `act` is the result of the query. */
export function poolThrough(
  options: pg.PoolConfig,
  act: (text: string, send: SendStatement) => Promise<unknown>,
): pg.Pool {
  const pool = new pg.Pool(options)
  pool.on('connect', (client) => {
    const query = client.query.bind(client) as (...args: unknown[]) => Promise<unknown>
    const through = (given: string | { readonly text: string }, ...others: unknown[]) => {
      const config = typeof given === 'string' ? { text: given } : given
      return act(config.text, (text) =>
        text === undefined ? query(given, ...others) : query({ ...config, text, values: [] }),
      )
    }
    client.query = through as typeof client.query
  })
  return pool
}

/** A pool that calls `note` with the text of each statement before it sends the statement. */
export const watchedPool = (options: pg.PoolConfig, note: (text: string) => void): pg.Pool =>
  poolThrough(options, (text, send) => {
    note(text)
    return send()
  })
