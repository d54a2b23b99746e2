import { expect, it } from 'vitest'
import type { PostgresPoolClient, TextRow } from '../../../adapters/postgres/connection/client.js'
import { askAndCommit } from '../../../adapters/postgres/connection/commits.js'
import { sessionOf } from '../../../adapters/postgres/connection/session.js'

/**
 * A connection, with the statements that it has sent. The statements run in these transactions, in order, or fail.
 */
function clientOf(...transactions: (string | Error)[]): {
  client: PostgresPoolClient
  sent: string[]
} {
  const sent: string[] = []
  const query = async ({ text }: { readonly text: string }): Promise<{ rows: TextRow[] }> => {
    sent.push(text)
    const transaction = transactions.shift()!
    if (typeof transaction !== 'string') throw transaction
    return { rows: [[transaction]] }
  }
  return { client: { query } as unknown as PostgresPoolClient, sent }
}

const commit = (client: PostgresPoolClient) =>
  askAndCommit(client, 'test', (durability) => `SELECT 1, ${durability}`)

it('a commit is durable once the same session has confirmed it', async () => {
  const { client, sent } = clientOf('a|1', 'a|2')
  const { rows, durable } = await commit(client)
  expect(rows).toEqual([['a|1']])
  await durable
  expect(sent).toEqual([
    expect.stringContaining("set_config('synchronous_commit', 'off', true)"),
    expect.stringContaining('pg_logical_emit_message'),
  ])
})

it('a commit that another session has confirmed may be lost, and the next session confirms itself', async () => {
  const { client, sent } = clientOf('a|1', 'b|2', 'a|3')
  await expect((await commit(client)).durable).rejects.toThrow(/another session/)
  sent.length = 0
  await (
    await commit(client)
  ).durable
  expect(sent).toEqual([
    expect.not.stringContaining("set_config('synchronous_commit', 'off', true)"),
  ])
})

it('a commit in a transaction of the host does not count', async () => {
  const { client } = clientOf('a|1', 'a|1')
  await expect((await commit(client)).durable).rejects.toThrow(/transaction that is not/)
})

it('a commit is confirmed again if a request to cancel it came too late', async () => {
  const cancelled = Object.assign(new Error('cancelled'), { code: '57014', severity: 'ERROR' })
  const { client, sent } = clientOf('a|1', cancelled, 'a|2')
  sessionOf(client).isCancelled = true
  await (
    await commit(client)
  ).durable
  expect(sent).toHaveLength(3)
})
