import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'better-sqlite3'
import { describe, expect, inject, it } from 'vitest'
import { createSqliteStore } from '../../../adapters/sqlite/sqlite-store.js'
import { scanBytes, scanDeflated, scanFiles, wordsIn } from '../../support/scan-files.js'
import { runScript } from '../../support/child.js'
import { soakRounds, soakTimeout } from '../../support/soak.js'
import { useSqliteFile } from '../../support/sqlite-file.js'
import { sqliteTruth } from '../../support/sqlite-index.js'
import { canaryLog, expectKept, expectNameAgain, plantCanaries } from '../shared/canaries.js'
import { TUNING } from '../shared/sealer.js'

/* After `scrub`, no file has a byte of what was removed. */

const file = useSqliteFile()

function open(compression: 'none' | 'deflate' = 'none') {
  const { store, sealer } = createSqliteStore(
    { filename: file.filename, compression },
    { tuning: TUNING },
  )
  return { store, sealer, log: file.closing(canaryLog(store)) }
}

const analyze = (): void =>
  file.execute((database) => void database.exec('PRAGMA analysis_limit = 0; ANALYZE'))

const dictionaries = (): Buffer[] =>
  file.execute((database) =>
    database.prepare('SELECT data FROM daybook_dictionaries').pluck().all(),
  ) as Buffer[]

describe('scrub', () => {
  it('leaves no byte of removed events in the files, and all others', async () => {
    const { store, sealer, log } = open()
    const canaries = await plantCanaries(log, 4)
    await sealer.settled()
    analyze()
    expect(wordsIn(scanFiles(file.folder, canaries.removed))).toEqual(canaries.removed)

    expect(await store.remove(canaries.ids)).toBe(canaries.ids.length)
    expect(wordsIn(scanFiles(file.folder, canaries.removed))).not.toEqual([])
    const steps = new Set<string>()
    const { remaining } = await store.scrub!({ onProgress: ({ step }) => steps.add(step) })
    expect(remaining).toEqual([])
    expect([...steps]).toEqual(['values', 'index', 'statistics', 'files'])
    expect(fs.statSync(`${file.filename}-wal`).size).toBe(0)
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
    expect(wordsIn(scanFiles(file.folder, canaries.kept))).toEqual(canaries.kept)
    await expectKept(log, canaries)
    await expectNameAgain(log, canaries, () => sealer.settled())
    expect(await store.verify!()).toMatchObject({ damage: [] })
    expect(sqliteTruth(file.filename)).toMatchObject({ hidden: 0, missing: [], damage: [] })
  })

  it('replaces the dictionaries of compressed events', async () => {
    const { store, sealer, log } = open('deflate')
    const canaries = await plantCanaries(log, 3)
    await sealer.settled()
    file.execute((database) => void database.pragma('wal_checkpoint'))
    const before = dictionaries()
    const inDictionaries = before.flatMap((data) => scanBytes('', data, canaries.removed))
    expect(inDictionaries).not.toEqual([])
    await store.remove(canaries.ids)
    expect(await store.scrub!()).toEqual({ remaining: [] })
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
    const after = dictionaries()
    expect(after).toHaveLength(1)
    expect(scanBytes('', after[0]!, canaries.removed)).toEqual([])
    const data = fs.readFileSync(file.filename)
    expect(scanDeflated('', data, canaries.removed, after[0])).toEqual([])
    expect(wordsIn(scanDeflated('', data, canaries.kept, after[0]))).not.toEqual([])
    await expectKept(log, canaries)
    await sealer.settled()
    expect(await store.verify!()).toMatchObject({ damage: [] })
    await expectKept(log, canaries)
  })

  it('waits for readers and writers of other processes, and holds up none for good', async () => {
    const { store, sealer, log } = open()
    const canaries = await plantCanaries(log, 1)
    await sealer.settled()
    const place = JSON.stringify({ filename: file.filename })
    const writers = [1, 2].map(() =>
      runScript('test/stores/shared/sealing-child.ts', [place, JSON.stringify({ leaseMs: 200 })]),
    )
    try {
      await Promise.all(writers.map((writer) => writer.saw('recording\n')))
      const reader = new Database(file.filename)
      reader.exec('BEGIN')
      reader.prepare('SELECT count(*) FROM daybook_events').get()
      await store.remove(canaries.ids)
      let isDone = false
      const steps: string[] = []
      const scrubbed = store.scrub!({
        onProgress: ({ step, done }) => steps.push(`${step} ${done}`),
      }).finally(() => (isDone = true))
      await expect.poll(() => steps.at(-1)).toBe('files 1')
      const { total } = await log.count()
      await expect.poll(async () => (await log.count()).total).toBeGreaterThan(total)
      expect(isDone).toBe(false)
      reader.close()
      expect(await scrubbed).toEqual({ remaining: [] })
    } finally {
      await Promise.all(writers.map((writer) => writer.kill()))
    }
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
    await sealer.settled()
    expect(sqliteTruth(file.filename)).toMatchObject({ hidden: 0, missing: [], damage: [] })
    await expectKept(log, canaries)
  })

  it('can be killed at any moment, and repeated', { timeout: soakTimeout(180_000) }, async () => {
    const first = open('deflate')
    const canaries = await plantCanaries(first.log, 3)
    await first.sealer.settled()
    await first.store.remove(canaries.ids)
    await first.log.close()
    for (const _ of soakRounds(6)) {
      const child = runScript('test/stores/shared/scrubbing-child.ts', [file.filename])
      await child.saw('values\n')
      await delay(Math.random() * 2500)
      await child.kill()
    }
    const { store, sealer, log } = open('deflate')
    await expectKept(log, canaries)
    expect(await store.verify!()).toMatchObject({ damage: [] })
    expect(await store.scrub!()).toEqual({ remaining: [] })
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
    expect(dictionaries().flatMap((data) => scanBytes('', data, canaries.removed))).toEqual([])
    await sealer.settled()
    expect(await store.verify!()).toMatchObject({ damage: [] })
    await expectKept(log, canaries)
  })

  // Windows has no such limit.
  it.skipIf(process.platform === 'win32')(
    'names what a full disk needs, and loses nothing',
    async () => {
      const { store, log } = open()
      const canaries = await plantCanaries(log, 1)
      for (let n = 0; n < 40; n++)
        await log.recordCustom('own:large', { n, text: 'large '.repeat(10_000) })
      await store.remove(canaries.ids)
      file.execute((database) => void database.pragma('wal_checkpoint(TRUNCATE)'))
      // In blocks of 512 bytes, for each file that the process writes.
      const half = Math.floor(fs.statSync(file.filename).size / 1024)
      const script = path.join(inject('compiledFolder'), 'test/stores/shared/scrubbing-child.js')
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        `ulimit -f ${half}; exec "$0" "$@"`,
        ...[process.execPath, script, file.filename, 'once'],
      ])
      expect(stdout).toMatch(
        /^STORE_FAILED the SQLite file could not be written anew, which needs free space of twice its size .*: .*; no event is lost, and the call can be repeated$/m,
      )
      expect(await store.verify!()).toMatchObject({ damage: [] })
      await expectKept(log, canaries)
      expect(await store.scrub!()).toEqual({ remaining: [] })
      expect(scanFiles(file.folder, canaries.removed)).toEqual([])
    },
  )

  it('an aborted call ends, and can be repeated', async () => {
    const { store, log } = open()
    const canaries = await plantCanaries(log, 1)
    await store.remove(canaries.ids)
    const reader = file.closing(new Database(file.filename))
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM daybook_events').get()
    const controller = new AbortController()
    const scrubbed = store.scrub!({
      signal: controller.signal,
      onProgress: ({ step, done }) => {
        if (step === 'files' && done === 1) controller.abort()
      },
    })
    await expect(scrubbed).rejects.toMatchObject({ code: 'ABORTED' })
    reader.exec('COMMIT')
    expect(await store.scrub!()).toEqual({ remaining: [] })
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
  })

  it('keeps the rowids of tables of the host, and says so', async () => {
    const { store, log } = open()
    const canaries = await plantCanaries(log, 1)
    file.execute((database) =>
      database.exec(`CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('a'), ('b'), ('c');
        DELETE FROM notes WHERE text = 'a';
        CREATE TABLE codes (code TEXT PRIMARY KEY); CREATE TABLE pairs (a, b, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT UNIQUE)`),
    )
    await store.remove(canaries.ids)
    const rowids = (): unknown =>
      file.execute((database) => database.prepare('SELECT rowid, text FROM notes').raw().all())
    const { remaining } = await store.scrub!()
    expect(remaining).toEqual([
      expect.stringMatching(
        /no INTEGER PRIMARY KEY \(codes, notes\)\. VACUUM with PRAGMA secure_delete/,
      ),
    ])
    expect(rowids()).toEqual([
      [2, 'b'],
      [3, 'c'],
    ])
    file.execute((database) => database.exec('DROP TABLE codes; DROP TABLE notes'))
    expect(await store.scrub!()).toEqual({ remaining: [] })
    expect(scanFiles(file.folder, canaries.removed)).toEqual([])
  })
})
