import { expect, it } from 'vitest'
import { begin, type PostgresPoolClient } from '../../../adapters/postgres/connection/client.js'
import { sessionOf } from '../../../adapters/postgres/connection/session.js'

const cancelled = () =>
  Object.assign(new Error('canceling statement'), { code: '57014', severity: 'ERROR' })

/** A connection with a time limit that ends the first `failures` transactions, and the statements that it has sent. */
function limitedClient(failures: number) {
  const sent: string[] = []
  const query = async ({ text }: { readonly text: string }) => {
    sent.push(text)
    if (text.startsWith('BEGIN') && failures-- > 0) throw cancelled()
    return []
  }
  const client = { query } as unknown as PostgresPoolClient
  sessionOf(client).isLimited = true
  return { client, sent }
}

it('a transaction lifts the time limit of the session first', async () => {
  const { client, sent } = limitedClient(0)
  await begin(client, 'READ COMMITTED')
  expect(sent).toEqual([expect.stringMatching(/^BEGIN[^;]*; SET LOCAL statement_timeout = '0'; /)])
})

it('a transaction begins anew if the time limit of the session has ended it', async () => {
  const { client, sent } = limitedClient(2)
  await begin(client, 'READ COMMITTED')
  expect(sent.map((text) => text.split(' ')[0])).toEqual([
    'BEGIN',
    'ROLLBACK',
    'BEGIN',
    'ROLLBACK',
    'BEGIN',
  ])
})

it.each<[string, number, (client: PostgresPoolClient) => Promise<unknown>]>([
  ['the limit ends every one', 20, (client) => begin(client, 'READ COMMITTED')],
  [
    'the store has cancelled it',
    1,
    (client) => {
      sessionOf(client).isCancelled = true
      return begin(client, 'READ COMMITTED')
    },
  ],
  [
    'its own time limit is over',
    1,
    (client) =>
      begin(client, 'REPEATABLE READ READ ONLY', { settings: { statement_timeout: '0.000001' } }),
  ],
  [
    'the limits of the host apply',
    1,
    (client) => {
      sessionOf(client).isLimited = false
      return begin(client, 'READ COMMITTED')
    },
  ],
])('a transaction is not begun again if %s', async (_, times, run) => {
  const { client, sent } = limitedClient(Infinity)
  await expect(run(client)).rejects.toMatchObject({ code: '57014' })
  expect(sent.filter((text) => text.startsWith('BEGIN'))).toHaveLength(times)
})
