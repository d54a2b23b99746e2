import fs from 'node:fs'
import net from 'node:net'
import Database from 'better-sqlite3'
import { AuditLog, type AuditLogOptions, type EventStore } from 'daybook'
import { postgresStore } from 'daybook/postgres'
import { sqliteStore } from 'daybook/sqlite'
import pg from 'pg'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createPostgresStore } from '../../../adapters/postgres/postgres-store.js'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { postgresDatabase } from '../../support/database.js'
import { driveDeadlines } from '../../support/deadlines.js'
import { tempDir } from '../../support/temp.js'

const open = (store: EventStore, options: Partial<AuditLogOptions<{}>> = {}): AuditLog => {
  const audit: AuditLog = new AuditLog({ store, types: {}, ...options })
  onTestFinished(() => audit.close())
  return audit
}

/** The machine may be busy, and its disk may have little room. */
const ANY_MACHINE = { timeoutMs: 60_000, minFreeBytes: 0 }

const tuning = { segmentSize: 4, fanOut: 4 }

const record = (audit: AuditLog, count: number): Promise<unknown> =>
  Promise.all(Array.from({ length: count }, (_, n) => audit.recordCustom('order', { n })))

it('SQLite: the figures are those of the file, its index and its disk', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const filename = file('audit.db')
  const { store, sealer } = createSqliteStore({ filename }, { tuning })
  const audit = open(store)
  await record(audit, 3)
  const health = await audit.health(ANY_MACHINE)
  expect(health).toMatchObject({ status: 'pass', index: { waiting: 3, damaged: 0 } })
  const size = fs.statSync(filename).size + fs.statSync(`${filename}-wal`).size
  expect(health.disk!.sizeBytes).toBe(size + fs.statSync(`${filename}-shm`).size)
  const { bavail, bsize, blocks } = fs.statfsSync(filename)
  // Other programs also write to the disk.
  expect(health.disk!.freeBytes! / (bavail * bsize)).toBeCloseTo(1, 0)
  expect(health.disk!.freeBytes).toBeLessThanOrEqual(blocks * bsize)

  await record(audit, 5)
  await sealer.settled()
  expect((await audit.health(ANY_MACHINE)).index!.waiting).toBeLessThan(4)
  expect(await open(sqliteStore({ filename, readOnly: true })).health(ANY_MACHINE)).toMatchObject({
    status: 'pass',
    index: { damaged: 0 },
  })

  fs.renameSync(filename, file('moved.db'))
  expect(await audit.health(ANY_MACHINE)).toMatchObject({
    status: 'fail',
    store: {
      error: {
        code: 'STORE_FAILED',
        message: expect.stringContaining('was deleted, moved or replaced') as string,
      },
    },
  })
  fs.renameSync(file('moved.db'), filename)
})

it('SQLite: a damaged segment warns', async () => {
  const { file, remove } = tempDir()
  onTestFinished(remove)
  const filename = file('audit.db')
  const { store, sealer } = createSqliteStore({ filename }, { tuning })
  const audit = open(store)
  await record(audit, 8)
  await sealer.settled()
  await sealer.close()
  const reading = open(sqliteStore({ filename, readOnly: true }))
  const handle = new Database(filename)
  handle.prepare('UPDATE daybook_segments SET size = size + 1').run()
  handle.close()
  expect(await reading.health(ANY_MACHINE)).toMatchObject({
    status: 'warn',
    index: { status: 'warn' },
  })
})

it('Postgres: the figures are those of the database, and a server that refuses writes fails', async () => {
  const { url: connectionString, remove } = await postgresDatabase()
  const pool = new pg.Pool({ connectionString, max: 1 })
  onTestFinished(async () => {
    await pool.end()
    await remove()
  })
  const { store, sealer } = createPostgresStore({ pool }, { tuning })
  const audit = open(store)
  await record(audit, 3)
  const health = await audit.health(ANY_MACHINE)
  expect(health).toMatchObject({ status: 'pass', index: { waiting: 3, damaged: 0 } })
  expect(health.disk!.sizeBytes).toBeGreaterThan(8192)
  expect(health.disk).not.toHaveProperty('freeBytes')
  await record(audit, 5)
  await sealer.settled()
  expect((await audit.health(ANY_MACHINE)).index!.waiting).toBeLessThan(4)

  await pool.query('SET default_transaction_read_only = on')
  expect(await audit.health(ANY_MACHINE)).toMatchObject({
    status: 'fail',
    store: { error: { message: 'the postgres store refuses writes' } },
  })
  const reading = open(postgresStore({ pool, readOnly: true }))
  expect(await reading.health(ANY_MACHINE)).toMatchObject({ status: 'pass' })
  await pool.query('SET default_transaction_read_only = off')
})

describe('Postgres: a server that cannot be reached', () => {
  it('fails with the reason once retries end', async () => {
    // The store retries for 10 seconds.
    const passDeadlines = driveDeadlines(8000, 10_000)
    const audit = open(postgresStore({ connectionString: 'postgres://127.0.0.1:1/none' }))
    const connect = vi.spyOn(net.Socket.prototype, 'connect')
    const health = audit.health(ANY_MACHINE)
    await vi.waitUntil(() => connect.mock.calls.length > 0, { timeout: 60_000 })
    passDeadlines()
    expect(await health).toMatchObject({
      status: 'fail',
      store: { error: { message: expect.stringContaining('ECONNREFUSED') as string } },
    })
  })
})
