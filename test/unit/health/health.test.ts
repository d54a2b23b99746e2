import { AuditLog, type AuditLogOptions, type EventStore, type StoreHealth } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { faultyStore } from 'daybook/testing'
import { expect, it, onTestFinished } from 'vitest'
import { memoryJournal } from '../memory-journal.js'
import { failing, fakeStore } from '../fake-store.js'

const MIB = 1024 * 1024

function open(
  store: EventStore,
  options: Partial<AuditLogOptions<Record<string, never>>> = {},
): AuditLog {
  const audit: AuditLog = new AuditLog({ store, types: {}, ...options })
  audit.on('rejected', () => {})
  onTestFinished(() => audit.close())
  return audit
}

/** A memory store with this health. */
const reporting = (health: StoreHealth, readOnly = false): EventStore => ({
  ...memoryStore(),
  readOnly,
  health: async () => health,
})

const index = { waiting: 4000, damaged: 0, batch: 1000 }

it('a log that works passes', async () => {
  const audit = open(memoryStore(), { journal: memoryJournal() })
  await audit.recordCustom('one')
  expect(await audit.health()).toEqual({
    status: 'pass',
    store: { status: 'pass', name: 'memory', responseMs: expect.any(Number) as number },
    recording: { status: 'pass', failures: 0 },
    journal: { status: 'pass', length: 0 },
  })
})

it.each<readonly [what: string, status: string, health: StoreHealth]>([
  ['a store that refuses writes', 'fail', { writable: false }],
  ['a store that may lose events', 'warn', { warnings: ['it may lose events'] }],
  ['an index with four batches waiting', 'pass', { index }],
  ['an index with more than four batches waiting', 'warn', { index: { ...index, waiting: 4001 } }],
  ['a damaged index', 'warn', { index: { ...index, damaged: 1 } }],
  ['a disk whose free bytes are not known', 'pass', { disk: { sizeBytes: 1 } }],
  ['a disk with 256 MiB left', 'pass', { disk: { sizeBytes: 1, freeBytes: 256 * MIB } }],
  ['a disk with less', 'warn', { disk: { sizeBytes: 1, freeBytes: 256 * MIB - 1 } }],
  ['a disk with 16 MiB left', 'warn', { disk: { sizeBytes: 1, freeBytes: 16 * MIB } }],
  ['a full disk', 'fail', { disk: { sizeBytes: 1, freeBytes: 16 * MIB - 1 } }],
])('%s: %s', async (_what, status, health) => {
  expect((await open(reporting(health)).health()).status).toBe(status)
})

it('a store that refuses writes passes if the log is read-only', async () => {
  expect((await open(reporting({ writable: false }, true)).health()).status).toBe('pass')
})

it('the warnings of the store are passed on', async () => {
  const { store } = await open(reporting({ warnings: ['it may lose events'] })).health()
  expect(store).toMatchObject({ status: 'warn', warnings: ['it may lose events'] })
})

it('the worst part counts, and each has its own status', async () => {
  const disk = { sizeBytes: 5, freeBytes: 6 }
  const health = await open(reporting({ index: { ...index, damaged: 2 }, disk })).health()
  expect(health).toMatchObject({
    status: 'fail',
    store: { status: 'pass' },
    index: { status: 'warn', waiting: 4000, damaged: 2 },
    disk: { status: 'fail', ...disk },
  })
  expect(health.index).not.toHaveProperty('batch')
})

it('a disk with fewer than minFreeBytes free warns', async () => {
  const audit = open(reporting({ disk: { sizeBytes: 0, freeBytes: 100 * MIB } }))
  expect((await audit.health()).status).toBe('warn')
  expect((await audit.health({ minFreeBytes: 0 })).status).toBe('pass')
})

it('a store that fails is the result, with the reason', async () => {
  const store = faultyStore(memoryStore())
  store.fail('health', 1, new Error('the cable is out'))
  expect(await open(store).health()).toMatchObject({
    status: 'fail',
    store: {
      status: 'fail',
      error: {
        code: 'STORE_FAILED',
        message: expect.stringMatching(/the cable is out$/) as string,
      },
    },
  })
})

it('a store that does not answer is waited for no longer than timeoutMs', async () => {
  const store = faultyStore(memoryStore())
  store.hang('health')
  expect(await open(store).health({ timeoutMs: 5 })).toMatchObject({
    status: 'fail',
    store: {
      error: { code: 'QUERY_TIMEOUT', message: 'the store did not answer within 5 ms' },
    },
  })
})

it('a store without the method health is asked for an event', async () => {
  const store: EventStore = fakeStore()
  expect((await open(store).health()).status).toBe('pass')
  store.get = failing(new Error('no longer'))
  expect(await open(store).health()).toMatchObject({ store: { error: { code: 'STORE_FAILED' } } })
})

it('a closed log fails', async () => {
  const audit = open(memoryStore())
  await audit.close()
  expect(await audit.health()).toMatchObject({
    status: 'fail',
    store: { error: { code: 'CLOSED' } },
  })
})

it('failed attempts warn until an event is stored', async () => {
  const store = faultyStore(memoryStore())
  const audit = open(store)
  const before = Date.now()
  store.fail('append', 2)
  await expect(audit.recordCustom('one')).rejects.toThrow()
  const { recording } = await audit.health()
  expect(recording).toMatchObject({ status: 'warn', failures: 1 })
  await expect(audit.recordCustom('two')).rejects.toThrow()
  const failing = await audit.health()
  expect(failing).toMatchObject({
    status: 'warn',
    recording: { failures: 2, failingSince: recording.failingSince },
  })
  expect(Date.parse(recording.failingSince!)).toBeGreaterThanOrEqual(before)
  await audit.recordCustom('three')
  expect((await audit.health()).recording).toEqual({ status: 'pass', failures: 0 })
})

it('a journal that holds events warns', async () => {
  const store = faultyStore(memoryStore())
  const audit = open(store, { journal: memoryJournal(), failurePolicy: 'queue' })
  store.fail('append')
  await audit.recordCustom('one')
  expect(await audit.health()).toMatchObject({
    status: 'warn',
    journal: { status: 'warn', length: 1 },
  })
  store.heal()
})

it.each([
  [{ timeoutMs: 0 }, /^timeoutMs must be a whole number from 1 to \d+; it is 0$/],
  [{ timeoutMs: 2 ** 31 }, /^timeoutMs .* it is 2147483648$/],
  [{ timeoutMs: '5' as unknown as number }, /^timeoutMs .* it is 5$/],
  [{ minFreeBytes: -1 }, /^minFreeBytes must be a whole number of at least 0; it is -1$/],
  [{ minFreeBytes: Number.NaN }, /^minFreeBytes .* it is NaN$/],
])('%o is refused', async (options, message) => {
  await expect(open(memoryStore()).health(options)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringMatching(message) as string,
  })
})
