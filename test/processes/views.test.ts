import { AuditLog, type JsonValue } from 'daybook'
import { describe, expect, it } from 'vitest'
import { VIEW_LIMITS } from '../../src/views/view.js'
import { createViews } from '../../src/views/views.js'
import { runScript } from '../support/child.js'
import { onPostgres, onSqlite, type StoredPlace } from './stored-place.js'

/* Processes that write views at once. */

/** Number of views that still fit, and number of views that each process creates. */
const [ROOM, EACH] = [7, 6]

async function writeViews({ location, openStore }: StoredPlace): Promise<void> {
  const audit = new AuditLog({ store: openStore(), types: {} })
  const views = createViews(audit)
  const empty = { query: '', range: null, display: {}, shared: false }
  const { id } = await views.create({ ...empty, name: 'both' }, 'ann')
  const full = new Map<string, JsonValue>([['views', { count: VIEW_LIMITS.views - ROOM }]])
  await audit.store.updateStates(['views'], () => full)

  const children = ['ann', 'bob'].map((user) =>
    runScript('test/processes/views-child.ts', [location, user, String(EACH), id]),
  )
  expect(await Promise.all(children.map(({ ended }) => ended))).toEqual([0, 0])
  const results = children.flatMap((child) => child.stdout().trim().split('\n'))
  const done = results.filter((result) => result === 'done')
  const refused = results.filter((result) => result === 'INVALID_VIEW')
  expect([done.length, refused.length]).toEqual([ROOM + 2, 2 * EACH - ROOM])

  expect(await views.list()).toHaveLength(1 + ROOM)
  expect(await views.get(id)).toMatchObject({ range: '7d', query: 'filter[type_eq]=x' })
  const { events } = await audit.list('filter[type_start]=api:views:&limit=100')
  expect(events).toHaveLength(1 + ROOM + 2)
  await expect(views.create({ ...empty, name: 'beyond' }, 'ann')).rejects.toMatchObject({
    code: 'INVALID_VIEW',
  })
  await audit.close()
}

describe('two processes keep the limit and each change', () => {
  it('on SQLite', () => onSqlite(writeViews))
  it('on Postgres', () => onPostgres(writeViews))
})
