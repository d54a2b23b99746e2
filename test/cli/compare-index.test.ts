import { AuditLog, type EventStore } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { expect, it } from 'vitest'
import { compareIndex } from '../../adapters/cli/run/compare-index.js'
import { runCli } from './run-cli.js'
import { openFileLog } from './logs.js'

const options = { all: true, signal: new AbortController().signal, onProgress() {} }

async function recordSome(audit: AuditLog): Promise<void> {
  for (let n = 0; n < 300; n++) {
    const data = { n, is_odd: n % 2 === 1, box: { name: `größe ${n % 7}`, parts: [n] }, none: null }
    void audit.recordCustom(`kind:${n % 5}`, data, { username: `user ${n % 3}` })
  }
  await audit.flush()
}

/** A store whose counts lack one event if they have a filter on an attribute. */
function miscounting(store: EventStore): EventStore {
  return {
    ...store,
    async count(query, options) {
      const counts = await store.count(query, options)
      const names = JSON.stringify(query.where ?? {}).matchAll(/"attributes":\["(\w+)"/g)
      const isRange = [...names].every(([, name]) => name === 'created_at')
      return isRange ? counts : { ...counts, total: counts.total - 1 }
    },
  }
}

it('an index that is right has no differences', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: {} })
  await recordSome(audit)
  expect(await compareIndex(audit, options)).toEqual([])
  expect(await compareIndex(audit, { ...options, all: false })).toEqual([])
})

it('an index that lacks events has differences, with the filters that show them', async () => {
  await using audit = new AuditLog({ store: miscounting(memoryStore()), types: {} })
  await recordSome(audit)
  const found = await compareIndex(audit, options)
  expect(found.length).toBeGreaterThan(0)
  for (const { filter, read, counted } of found) {
    expect(counted).toBe(read - 1)
    const { events } = await audit.list(`${filter}&limit=1000`)
    expect(events).toHaveLength(read)
  }
})

it('an empty log has no differences', async () => {
  await using audit = new AuditLog({ store: memoryStore(), types: {} })
  expect(await compareIndex(audit, options)).toEqual([])
})

it('verify --all compares all events of a file', async () => {
  const log = openFileLog()
  try {
    await recordSome(log.audit)
    expect(await runCli(['verify', log.file, '--all'])).toMatchObject({
      exit: 0,
      stdout: expect.stringMatching(/^300 events .*: no damage\n$/),
    })
  } finally {
    await log.close()
  }
})
