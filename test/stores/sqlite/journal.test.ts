import fs from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import type { EventDraft } from 'daybook'
import { sqliteJournal, sqliteStore } from 'daybook/sqlite'
import { beforeEach, describe, expect, it } from 'vitest'
import { draft } from '../../../src/testing/conformance/helpers.js'
import { linesOf, runScript } from '../../support/child.js'
import { canary, scanFiles, wordsIn } from '../../support/scan-files.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { useSqliteFile } from '../../support/sqlite-file.js'

describe('sqliteJournal', () => {
  const file = useSqliteFile()
  let filename: string
  beforeEach(() => {
    filename = file.beside('journal.db')
  })

  const openJournal = (maxBytes?: number): ReturnType<typeof sqliteJournal> =>
    file.closing(sqliteJournal({ filename, ...(maxBytes && { maxBytes }) }))
  const entry = (n: number, more: Partial<EventDraft> = {}) => ({
    draft: draft({ n }, more),
    recordedAt: 1000 + n,
    since: undefined,
  })
  const numbers = (journal: ReturnType<typeof sqliteJournal>, count = 100): unknown[] =>
    journal.first(count).map(({ draft: { attributes } }) => attributes['n'])

  it('drafts are returned unchanged, oldest first', () => {
    const journal = openJournal()
    expect([journal.length, journal.first(10)]).toEqual([0, []])
    const throttle = { key: 'a\n"x"', scope: { user: 'é', list: [1, null] }, period: 60_000_000 }
    const attributes = { z: 1, a: { b: [true, null, 'é😀 "'] } }
    const full = { username: 'ann', source: '/api/x', system: false, attributes, throttle }
    const given = [
      entry(1),
      { ...entry(2, { ...full, json: JSON.stringify(attributes) }), since: 5 },
      entry(3, { live: true }),
    ]
    journal.add(given.slice(0, 2))
    journal.add(given.slice(2))
    expect(journal.length).toBe(3)
    expect(journal.first(10)).toEqual(given)
    expect(journal.first(2)).toEqual(given.slice(0, 2))
    expect(Object.keys(journal.first(2)[1]!.draft.attributes)).toEqual(['z', 'a'])
  })

  it('drafts that are removed leave no bytes', () => {
    const words = Array.from({ length: 60 }, canary)
    const journal = openJournal()
    for (const [n, word] of words.entries())
      journal.add([entry(n, draft({ n, text: `${word} `.repeat(1 + 5 * n) }))])
    expect(wordsIn(scanFiles(file.folder, words))).toEqual(words)
    journal.remove(20)
    journal.remove(40)
    expect(journal.length).toBe(0)
    expect(scanFiles(file.folder, words)).toEqual([])
    expect(fs.statSync(filename).size).toBeGreaterThan(100_000)
  })

  it('the bytes of removed drafts that a killed process has left are removed at the next start', () => {
    const words = Array.from({ length: 20 }, canary)
    const journal = openJournal()
    journal.add(words.map((word, n) => entry(n, draft({ word }))))
    journal.close()
    // The removal is committed, and nothing is brought from the WAL to the file.
    const killed = new Database(filename)
    killed.pragma('secure_delete = ON')
    killed.exec('DELETE FROM daybook_journal')
    const images = ['', '-wal'].map((end) => [end, fs.readFileSync(filename + end)] as const)
    killed.close()
    for (const [end, image] of images) fs.writeFileSync(filename + end, image)
    expect(wordsIn(scanFiles(file.folder, words))).toEqual(words)
    expect(openJournal().length).toBe(0)
    expect(scanFiles(file.folder, words)).toEqual([])
  })

  it('the oldest drafts are removed, and no more than there are', () => {
    const journal = openJournal()
    journal.add([1, 2, 3, 4].map((n) => entry(n)))
    journal.remove(2)
    expect([journal.length, numbers(journal)]).toEqual([2, [3, 4]])
    journal.add([entry(5)])
    expect(numbers(journal, 2)).toEqual([3, 4])
    journal.remove(10)
    expect([journal.length, numbers(journal)]).toEqual([0, []])
    journal.add([entry(6)])
    expect(numbers(journal)).toEqual([6])
  })

  it('of large drafts, fewer than requested are returned', () => {
    const journal = openJournal()
    const large = (n: number, length: number) =>
      entry(n, { json: JSON.stringify({ n, text: 'x'.repeat(length) }) })
    for (let n = 1; n <= 5; n++) journal.add([large(n, 3_000_000)])
    journal.add([entry(6)])
    expect(numbers(journal, 500)).toEqual([1, 2, 3])
    expect(numbers(journal, 2)).toEqual([1, 2])
    journal.try(3, 700)
    journal.remove(3)
    expect(numbers(journal, 500)).toEqual([4, 5, 6])
    journal.add([large(7, 9_000_000), entry(8)])
    journal.remove(3)
    expect(numbers(journal, 500)).toEqual([7])
    journal.remove(1)
    expect(numbers(journal, 500)).toEqual([8])
  })

  it('the time of the first attempt is kept', () => {
    const journal = openJournal()
    journal.add([1, 2, 3].map((n) => entry(n)))
    const since = (): unknown[] => journal.first(9).map((one) => one.since)
    journal.try(2, 700)
    expect(since()).toEqual([700, 700, undefined])
    journal.try(3, 800)
    expect(since()).toEqual([700, 700, 800])
    journal.remove(1)
    journal.try(1, 600)
    expect(since()).toEqual([600, 800])
    journal.close()
    expect(
      openJournal()
        .first(9)
        .map((one) => one.since),
    ).toEqual([600, 800])
  })

  it('all drafts are there when the journal is opened again', () => {
    const first = openJournal()
    first.add([1, 2, 3].map((n) => entry(n)))
    first.remove(1)
    first.close()
    first.close()
    const second = openJournal()
    expect([second.length, numbers(second)]).toEqual([2, [2, 3]])
    second.add([entry(4)])
    second.remove(1)
    expect(numbers(second)).toEqual([3, 4])
  })

  it('entries that do not fit are all refused', () => {
    const journal = openJournal(20)
    journal.add([entry(1), entry(2)])
    const full = expect.objectContaining({ code: 'QUEUE_FULL' })
    expect(() => journal.add([entry(3, { json: '{}' }), entry(4)])).toThrow(full)
    expect(numbers(journal)).toEqual([1, 2])
    journal.remove(1)
    // The limit is in bytes: 13 are left, and this draft has 12 characters but 16 bytes.
    expect(() => journal.add([entry(5, { json: '{"n":"éééé"}' })])).toThrow(full)
    journal.add([entry(6)])
    journal.close()
    const again = openJournal(20)
    expect(() => again.add([entry(7)])).toThrow(full)
    again.remove(1)
    again.add([entry(8)])
    expect(numbers(again)).toEqual([6, 8])
  })

  it('a file that another journal or process uses is refused', async () => {
    const inUse = expect.objectContaining({
      code: 'STORE_FAILED',
      message: `the journal ${filename} is in use by another process`,
    })
    const journal = openJournal()
    expect(() => openJournal()).toThrow(inUse)
    journal.close()
    const child = runScript('test/stores/sqlite/journaling-child.ts', [filename])
    await child.saw('0\n')
    expect(() => openJournal()).toThrow(inUse)
    await child.kill()
    expect(openJournal().length).toBeGreaterThan(0)
  })

  it('a kill loses no draft', { timeout: soakTimeout(180_000) }, async () => {
    for (const round of soakRounds(1)) {
      const own = file.beside(`${round}.db`)
      const child = runScript('test/stores/sqlite/journaling-child.ts', [own])
      await child.saw('-5\n')
      await delay(Math.random() * 100)
      await child.kill()
      const lines = linesOf(child)
      const added = lines.filter((line) => !line.startsWith('-')).length
      const removed = 5 * (lines.length - added)
      const journal = sqliteJournal({ filename: own })
      const left = numbers(journal, Infinity) as number[]
      journal.close()
      // The kill may come between an action and its line.
      expect([removed, removed + 5]).toContain(left[0])
      expect([added - 1, added]).toContain(left.at(-1))
      expect(left).toEqual(left.map((_, i) => left[0]! + i))
    }
  })

  it('the file shrinks once the journal is empty', () => {
    const journal = openJournal()
    const json = JSON.stringify({ text: 'x'.repeat(100_000) })
    const size = (): number => fs.statSync(filename).size + fs.statSync(`${filename}-wal`).size
    const entries = Array.from({ length: 20 }, (_, n) => entry(n, { json }))
    for (let i = 0; i < 10; i++) journal.add(entries)
    expect(size()).toBeGreaterThan(20_000_000)
    for (let i = 0; i < 9; i++) journal.remove(20)
    expect(journal.first(1)[0]!.draft.json).toBe(json)
    journal.remove(20)
    expect(size()).toBeLessThan(100_000)
    journal.add([entry(1)])
    expect(numbers(journal)).toEqual([1])
  })

  it('a file of a newer version, or of a log, is refused and left unchanged', async () => {
    openJournal().close()
    const database = new Database(filename)
    database.exec('UPDATE daybook_journal_schema SET version = 99')
    database.close()
    expect(() => openJournal()).toThrow(/schema version 99/)
    const log = file.beside('audit.db')
    await sqliteStore({ filename: log }).close()
    const invalid = expect.objectContaining({ code: 'INVALID_OPTION' })
    expect(() => sqliteJournal({ filename: log })).toThrow(invalid)
    await sqliteStore({ filename: log }).close()
  })

  it.each([{ filename: '' }, { filename: ':memory:' }, { filename: 'x', maxBytes: 0 }])(
    'the options %j are refused',
    (options) => {
      expect(() => sqliteJournal(options)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTION' }),
      )
    },
  )

  it('errors name the file, and calls after close are refused', () => {
    const missing = file.beside('none/journal.db')
    expect(() => sqliteJournal({ filename: missing })).toThrow(
      expect.objectContaining({ code: 'STORE_FAILED', message: expect.stringContaining(missing) }),
    )
    const journal = openJournal()
    journal.close()
    const closed = expect.objectContaining({ code: 'CLOSED' })
    expect(() => journal.add([entry(1)])).toThrow(closed)
    expect(() => journal.first(1)).toThrow(closed)
    expect(() => journal.try(1, 1)).toThrow(closed)
    expect(() => journal.remove(1)).toThrow(closed)
  })
})
