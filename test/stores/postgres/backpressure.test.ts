import { AuditLog, type AuditLogOptions } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBackpressure } from '../../../adapters/postgres/index/backpressure.js'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { namesIn } from '../../../adapters/postgres/schema/names.js'
import { eventAt } from '../../support/imported-event.js'
import { OLD } from '../../support/index-fixture.js'
import { postgresTruth } from '../../support/postgres-index.js'
import { useSchemas } from '../../support/schemas.js'
import { SOON, TUNING } from '../shared/sealer.js'

const { database, schema, query } = useSchemas('backpressure')

const MAX_UNINDEXED = 16

/** No process can build the index until the lease is released. */
const takeLease = (): Promise<unknown> =>
  query(`UPDATE %index_state SET holder = gen_random_uuid(), held_until = now() + interval '30 s'`)
const releaseLease = (): Promise<unknown> => query('UPDATE %index_state SET holder = NULL')

interface Options extends Partial<AuditLogOptions<{}>> {
  readonly maxUnindexed?: number
  readonly maxWaitMs?: number
}

function openLog({ maxUnindexed = MAX_UNINDEXED, maxWaitMs = 600_000, ...options }: Options = {}) {
  const { store } = createPostgresStore(
    { pool: database().pool, schema: schema() },
    { tuning: TUNING, checkMs: 10, maxUnindexed, maxWaitMs },
  )
  const audit = new AuditLog({ store, types: {}, ...options })
  onTestFinished(() => audit.close())
  return audit
}

async function record(audit: AuditLog<{}>, count: number): Promise<void> {
  for (let n = 0; n < count; n++) await audit.recordCustom('order', { n })
}

const delayedMs = async (audit: AuditLog<{}>): Promise<number> =>
  (await audit.health({ timeoutMs: 60_000 })).index!.recordingDelayedMs!

describe('recording', () => {
  it('waits for the index while too many events are not in it, and reports this', async () => {
    const audit = openLog({ waiting: { deadlineMs: 3_600_000 } })
    await record(audit, 1)
    await takeLease()
    // Checked every two events.
    await record(audit, MAX_UNINDEXED)
    expect(await delayedMs(audit)).toBe(0)
    let isRecorded = false
    const recording = record(audit, 2).then(() => (isRecorded = true))
    await vi.waitFor(async () => expect(await delayedMs(audit)).toBeGreaterThan(0), SOON)
    expect(isRecorded).toBe(false)
    expect((await audit.health({ timeoutMs: 60_000 })).index).toMatchObject({
      waiting: 18,
      maxWaiting: MAX_UNINDEXED,
    })
    await releaseLease()
    await recording
    expect((await postgresTruth(database().pool, schema())).unsealed).toBeLessThanOrEqual(
      MAX_UNINDEXED,
    )
    await record(audit, 50)
    expect(audit.stats()).toMatchObject({ calls: 69, stored: 69 })
  })

  it('does not wait for an index that has stopped growing', async () => {
    const audit = openLog({ maxWaitMs: 50 })
    await record(audit, 1)
    await takeLease()
    await record(audit, 2 * MAX_UNINDEXED)
    const delayed = await delayedMs(audit)
    expect(delayed).toBeGreaterThan(0)
    await record(audit, 2 * MAX_UNINDEXED)
    expect(await delayedMs(audit)).toBe(delayed)
  })

  it('waits no longer than the deadline allows', async () => {
    const audit = openLog({ waiting: { deadlineMs: 4000 } })
    await record(audit, 1)
    await takeLease()
    await record(audit, 2 * MAX_UNINDEXED)
    expect(await delayedMs(audit)).toBeGreaterThan(0)
    expect(audit.stats()).toMatchObject({ stored: 1 + 2 * MAX_UNINDEXED, rejected: 0 })
  })

  it('never waits without a limit', async () => {
    const audit = openLog({ maxUnindexed: Infinity })
    await record(audit, 1)
    await takeLease()
    await record(audit, 4 * MAX_UNINDEXED)
    const { index } = await audit.health({ timeoutMs: 60_000 })
    expect(index!.waiting).toBeGreaterThan(MAX_UNINDEXED)
    expect(index).not.toHaveProperty('maxWaiting')
  })
})

it('the events are counted after 32,768 at most', async () => {
  let counts = 0
  const use = async (): Promise<never> => {
    counts++
    return { count: 0, version: '1' } as never
  }
  const options = { maxUnindexed: 1e6, maxWaitMs: 60_000, build() {} }
  const pressure = createBackpressure({ names: namesIn('unused'), use }, options)
  pressure.added(32_767)
  await pressure.ready(undefined)
  expect(counts).toBe(0)
  pressure.added(1)
  await pressure.ready(undefined)
  expect(counts).toBe(1)
})

it('an import waits for the index too', async () => {
  const audit = openLog()
  await record(audit, 1)
  await takeLease()
  const importOne = (i: number): Promise<unknown> => audit.importEvents([eventAt(OLD + i)])
  for (let i = 0; i < MAX_UNINDEXED; i++) await importOne(i)
  let isImported = false
  const importing = importOne(20)
    .then(() => importOne(21))
    .then(() => importOne(22))
    .then(() => (isImported = true))
  await vi.waitFor(async () => expect(await delayedMs(audit)).toBeGreaterThan(0), SOON)
  expect(isImported).toBe(false)
  await releaseLease()
  await importing
})

it.each([0, 100, 16_383, 20_000.5, Number.NaN, '65536'])('refuses maxUnindexed: %s', (value) => {
  const open = () =>
    postgresStore({ pool: database().pool, maxUnindexed: value as number, schema: schema() })
  expect(open).toThrow(expect.objectContaining({ code: 'INVALID_OPTION' }))
})
