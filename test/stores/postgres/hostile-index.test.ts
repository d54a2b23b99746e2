import { AuditLog } from 'daybook'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { EXACTLY } from '../../support/exact-counts.js'
import { type HostileDatabase, hostileDatabase } from '../../support/hostile-role.js'
import { SOON, TUNING } from '../shared/sealer.js'

let hostile: HostileDatabase
beforeAll(async () => {
  hostile = await hostileDatabase()
})
afterAll(() => hostile.remove())

it('the index of a role with other settings is built, merged and sound', async () => {
  const { store, sealer } = createPostgresStore(
    { connectionString: hostile.url },
    { tuning: TUNING, checkMs: 50 },
  )
  const audit = new AuditLog({ store, types: {} })
  try {
    for (let n = 0; n < 64; n++) await audit.recordCustom('test:n', { n, text: `Iıİi ${n % 7}` })
    await vi.waitFor(
      async () => expect((await audit.health()).index).toMatchObject({ waiting: 0 }),
      SOON,
    )
    await sealer.settled()
    const { damage, segments, events } = await audit.verify()
    expect({ damage, events }).toEqual({ damage: [], events: 64 })
    expect(segments).toBeGreaterThan(0)
    expect((await audit.count('filter[text_eq]=Iıİi 3', EXACTLY)).total).toBe(9)
    expect((await audit.list('filter[n_gteq]=60')).events).toHaveLength(4)
    await store.analyze?.()
  } finally {
    await audit.close()
  }
})
