import Database from 'better-sqlite3'
import { sqliteStore } from 'daybook/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { createConnection } from '../../../adapters/sqlite/connection/connection.js'
import { isLeased, releaseLease, takeLease } from '../../../adapters/sqlite/index/lease.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

const NOW = 1_700_000_000_000_000
const PERIOD = 10_000_000

describe('the lease for building the index', () => {
  const file = useSqliteFile()
  let database: Database.Database

  beforeEach(async () => {
    await sqliteStore({ filename: file.filename }).close()
    database = file.closing(new Database(file.filename))
  })

  const connection = () => createConnection(database)
  const take = (holder: string, now: number) => takeLease(connection(), holder, now, PERIOD)
  const release = (holder: string) => releaseLease(connection(), holder)

  it('belongs to one holder until it expires', () => {
    expect(isLeased(connection(), NOW)).toBe(false)
    expect(take('a', NOW)).toBe(true)
    expect(take('b', NOW + PERIOD - 1)).toBe(false)
    expect(isLeased(connection(), NOW + PERIOD - 1)).toBe(true)
    expect(isLeased(connection(), NOW + PERIOD)).toBe(false)
    expect(take('b', NOW + PERIOD)).toBe(true)
    expect(take('a', NOW + PERIOD)).toBe(false)
  })

  it('lasts for another period after a renewal', () => {
    take('a', NOW)
    expect(take('a', NOW + PERIOD - 1)).toBe(true)
    expect(take('b', NOW + PERIOD)).toBe(false)
    expect(take('b', NOW + 2 * PERIOD - 1)).toBe(true)
  })

  it('is free once its holder has released it, and only the holder can release it', () => {
    take('a', NOW)
    release('b')
    expect(take('b', NOW)).toBe(false)
    release('a')
    expect(isLeased(connection(), NOW)).toBe(false)
    expect(take('b', NOW)).toBe(true)
  })

  it('is free after the clock was set back', () => {
    take('a', NOW + 3600 * PERIOD)
    expect(isLeased(connection(), NOW)).toBe(false)
    expect(take('b', NOW)).toBe(true)
  })

  it('writes nothing if it is refused', () => {
    take('a', NOW)
    const rows = () => database.prepare('SELECT * FROM daybook_state').all()
    const before = rows()
    take('b', NOW + 1)
    expect(rows()).toEqual(before)
  })
})
