import fs from 'node:fs'
import { AuditLogs, type AuditLogsOptions, type EventTypes } from 'daybook'
import { keyFile } from 'daybook/ledger'
import { memoryLogs } from 'daybook/memory'
import { sqliteLogs } from 'daybook/sqlite'
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import { generateKey } from '../../../src/ledger/key-file.js'
import { tempDir } from '../../support/temp.js'

/* Ledgers of many logs, which are open only while they are used. */

let fileOf: (key: string) => string
let directory: string
beforeEach(async () => {
  const { file, remove } = tempDir()
  directory = file('logs')
  fileOf = (key) => file(`${key}.pem`)
  for (const key of ['a', 'b']) await generateKey(`audit.example.com/${key}`, fileOf(key))
  return remove
})

const open = (options: Partial<AuditLogsOptions<EventTypes>> = {}): AuditLogs => {
  const logs = new AuditLogs({
    stores: sqliteLogs({ directory }),
    types: {},
    // No log is looked after within a test.
    idleMs: 3_600_000,
    roundMs: false,
    ledger: (key) => ({ origin: `audit.example.com/${key}`, signer: keyFile(fileOf(key)) }),
    ...options,
  })
  onTestFinished(() => logs.close())
  return logs
}

/** The number of leaves that are signed. */
const sizeOf = (key: string): number =>
  Number(fs.readFileSync(`${fileOf(key)}.note`, 'utf8').split('\n')[1])

it('a log is sealed before it is closed, and goes on when it is used again', async () => {
  const logs = open({ maxOpen: 1 })
  const log = logs.log('a')
  await log.ledger.checkpoint()
  await log.recordCustom('test:event', { n: 1 })
  const before = sizeOf('a')
  await logs.log('b').recordCustom('test:event', { n: 1 })
  await vi.waitFor(() => expect(sizeOf('a')).toBe(before + 1), { timeout: 60_000 })
  await log.recordCustom('test:event', { n: 2 })
  await log.ledger.checkpoint()
  expect(sizeOf('a')).toBe(before + 2)
  expect(await log.ledger.verify()).toMatchObject({ result: 'intact', findings: [], events: 2 })
  expect(await logs.log('b').ledger.verify()).toMatchObject({ findings: [] })
})

it('the rest is sealed when the logs are closed', async () => {
  const logs = open()
  const log = logs.log('a')
  await log.ledger.checkpoint()
  await log.recordCustom('test:event', { n: 1 })
  const before = sizeOf('a')
  await logs.close()
  expect(sizeOf('a')).toBe(before + 1)
})

it('cleaning rules remove sealed events of each log', async () => {
  const cleaning = { rules: [{ target: 'events', maxRows: 3 }] } as const
  const logs = open({ cleaning })
  const log = logs.log('a')
  for (let n = 0; n < 5; n++) await log.recordCustom('test:event', { n })
  expect(await log.cleaning.run()).toMatchObject([{ removed_count: 2 }])
  expect(await log.ledger.verify()).toMatchObject({ result: 'intact', findings: [], removed: 2 })
  await expect(log.store.remove([])).rejects.toMatchObject({ code: 'SIGNER_REQUIRED' })
})

it('options that do not fit many logs are refused', () => {
  const ledger = { origin: 'audit.example.com/a', signer: keyFile(fileOf('a')) }
  expect(() => open({ ledger: ledger as never })).toThrow('ledger must be a function')
  const logs = open({
    stores: memoryLogs(),
    ledger: () => ({ ...ledger, verify: { every: { days: 1 } } }),
  })
  expect(() => logs.log('a')).toThrow('verify the logs of AuditLogs one by one')
})
