import { createSecretKey, randomBytes } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import Database from 'better-sqlite3'
import { sqliteStore, sqliteSubjectKeys } from 'daybook/sqlite'
import { describe, expect, it, vi } from 'vitest'
import type { KeyRow } from '../../../src/privacy/keys/key-table.js'
import { sqliteKeyTable } from '../../../adapters/sqlite/schema/subject-keys.js'
import { openFile } from '../../../adapters/sqlite/subject-keys.js'
import { execute, useSqliteFile } from '../../support/sqlite-file.js'
import { errorWith } from '../../unit/errors.js'

describe('sqliteSubjectKeys', () => {
  const file = useSqliteFile()
  const master = createSecretKey(randomBytes(32))
  const open = () => file.closing(sqliteSubjectKeys({ filename: file.beside('keys.db'), master }))

  const rows = (): readonly KeyRow[] =>
    execute(file.beside('keys.db'), (database) =>
      database.prepare('SELECT * FROM daybook_keys').all(),
    ) as KeyRow[]

  /** The texts that are in any file of the folder. */
  const foundOf = (texts: readonly string[]): string[] => {
    const contents = fs
      .readdirSync(file.folder)
      .map((name) => fs.readFileSync(path.join(file.folder, name), 'latin1'))
    return texts.filter((text) => contents.some((content) => content.includes(text)))
  }

  it('creates a file that only its owner can read', async () => {
    await open().obtain([{ kind: 'customer', id: 'c17' }])
    for (const name of ['keys.db', 'keys.db-wal', 'keys.db-shm'])
      expect(fs.statSync(file.beside(name)).mode & 0o777).toBe(0o600)
  })

  it('leaves no byte of a destroyed key, and none of its subject, in the file and the WAL', async () => {
    const keys = open()
    const other = open()
    const subjects = Array.from({ length: 700 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
    // In many transactions, so that pages are split while they hold keys that will be destroyed.
    for (let at = 0; at < subjects.length; at += 70) await keys.obtain(subjects.slice(at, at + 70))
    const made = await other.obtain(subjects)
    const stored = new Map(rows().map((row) => [row.ref, row]))
    const erased = made.filter((_, i) => i % 2 === 0).map(({ ref }) => stored.get(ref)!)
    const kept = made.filter((_, i) => i % 2 === 1).map(({ ref }) => stored.get(ref)!)
    const partsOf = (texts: readonly string[]) =>
      texts.flatMap((text) => [text.slice(0, 20), text.slice(-20)])
    const wrapped = partsOf(erased.map((row) => row.wrapped))
    const macs = partsOf(erased.map(({ mac }) => mac!))
    expect(foundOf([...wrapped, ...macs])).toHaveLength(wrapped.length + macs.length)
    for (const [i, subject] of subjects.entries()) {
      if (i % 2 === 1) continue
      const begun = await keys.beginErasure(subject, { reason: 'asked', username: 'dpo' })
      // The last one stays pending.
      if (i < 698) await keys.endErasure(begun!.ref, { events: 0 })
    }
    expect(foundOf(wrapped)).toEqual([])
    expect(foundOf(macs)).toEqual(partsOf([erased.at(-1)!.mac!]))
    expect(foundOf(kept.map((row) => row.wrapped))).toHaveLength(kept.length)
  })

  it('leaves no byte of keys that a former master key has wrapped', async () => {
    const keys = open()
    const subjects = Array.from({ length: 700 }, (_, i) => ({ kind: 'customer', id: `c${i}` }))
    await keys.obtain(subjects)
    const before = rows().map(({ wrapped }) => wrapped)
    await keys.rotate(createSecretKey(randomBytes(32)))
    expect(foundOf(before)).toEqual([])
    expect(foundOf(rows().map(({ wrapped }) => wrapped))).toHaveLength(subjects.length)
  })

  it('waits for a reader that still needs the former pages', async () => {
    const keys = open()
    await keys.obtain([{ kind: 'customer', id: 'c17' }])
    const [row] = rows()
    const table = sqliteKeyTable(file.closing(openFile({ filename: file.beside('keys.db') })))
    const reader = file.closing(new Database(file.beside('keys.db')))
    reader.exec('BEGIN')
    reader.prepare('SELECT * FROM daybook_keys').all()
    let isOver = false
    const erasing = keys
      .beginErasure({ kind: 'customer', id: 'c17' }, { reason: 'asked', username: 'dpo' })
      .finally(() => (isOver = true))
    await vi.waitFor(async () => expect(await table.byMac([row!.mac!])).toEqual([]))
    expect(foundOf([row!.wrapped])).toEqual([row!.wrapped])
    expect(isOver).toBe(false)
    reader.exec('COMMIT')
    expect(await erasing).toMatchObject({ ref: row!.ref })
    expect(foundOf([row!.wrapped])).toEqual([])
  })

  it('refuses the file of a log, and does not change it', async () => {
    const store = sqliteStore({ filename: file.filename })
    await store.close()
    const before = fs.readFileSync(file.filename)
    expect(() => sqliteSubjectKeys({ filename: file.filename, master })).toThrow(
      errorWith('INVALID_OPTION', 'keys of subjects need a file of their own'),
    )
    expect(fs.readFileSync(file.filename).equals(before)).toBe(true)
  })

  it.each<[string, object, string]>([
    ['a misspelt option', { filname: 'a' }, 'did you mean filename?'],
    ['no filename', {}, 'filename must be the path of a file'],
    ['a file in memory', { filename: ':memory:' }, 'filename must be the path of a file'],
    ['an address', { filename: 'sqlite:keys.db' }, 'filename must be the path of a file'],
    ['permissions that its owner lacks', { filename: 'keys.db', mode: 0o400 }, 'mode must be'],
    ['no master key', { filename: 'keys.db', master: undefined }, 'it is missing'],
    ['bytes', { filename: 'keys.db', master: randomBytes(32) }, 'it is an array of bytes'],
    ['a text', { filename: 'keys.db', master: 'a'.repeat(32) }, 'it is a string'],
    [
      'a short key',
      { filename: 'keys.db', master: createSecretKey(randomBytes(16)) },
      'it is a KeyObject with 16 bytes',
    ],
    [
      'a service without an id',
      { filename: 'keys.db', master: { wrap() {}, unwrap() {} } },
      'master.id must be a text',
    ],
    [
      'a service with a misspelt function',
      { filename: 'keys.db', master: { id: 'kms', wrap() {}, unwarp() {} } },
      'master.unwrap must be a function',
    ],
  ])('refuses %s', (_, options, reason) => {
    expect(() => sqliteSubjectKeys({ master, ...options } as never)).toThrow(
      errorWith('INVALID_OPTION', reason),
    )
  })
})
