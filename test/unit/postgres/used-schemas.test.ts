import { expect, it, vi } from 'vitest'
import {
  giveBack,
  notePooled,
  type PostgresPoolClient,
} from '../../../adapters/postgres/connection/client.js'
import {
  createUsedSchemas,
  MAX_CLOSED_LOGS,
} from '../../../adapters/postgres/connection/used-schemas.js'

const OPEN = 3
/** Schemas that a connection may have been used for. */
const MOST = OPEN + MAX_CLOSED_LOGS

function fakeClient() {
  const release = vi.fn()
  const client = { release, removeListener() {} } as unknown as PostgresPoolClient
  return { client, isClosed: (): boolean => release.mock.lastCall![0] as boolean }
}

const use = (client: PostgresPoolClient, schemas: number): void => {
  const used = createUsedSchemas(() => OPEN)
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < schemas; i++) used.note(client, `log_${i}`)
  giveBack(client, true)
}

it.each([
  [MOST, false],
  [MOST + 1, true],
])(
  'a connection that was used for %i schemas is closed when it is returned: %j',
  (schemas, closed) => {
    const { client, isClosed } = fakeClient()
    use(client, schemas)
    expect(isClosed()).toBe(closed)
  },
)

it('a connection through a pooler stays, because the server process belongs to the pooler', () => {
  const { client, isClosed } = fakeClient()
  notePooled(client)
  use(client, MOST + 1)
  expect(isClosed()).toBe(false)
})
