import fs from 'node:fs'
import { open } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { type AuditEvent, type CleaningRule, verifyArchive } from 'daybook'
import { memoryStore } from 'daybook/memory'
import { fromParquet } from 'daybook/parquet'
import { manualClock } from 'daybook/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ArchiveDirectory } from '../../../src/cleaning/rule.js'
import { openWorld, type World } from '../../stores/shared/cleaning-world.js'
import { queryDuckDb } from '../../support/duckdb.js'
import { tempDir } from '../../support/temp.js'

let temp: ReturnType<typeof tempDir>

beforeEach(() => {
  temp = tempDir()
})
afterEach(() => {
  vi.restoreAllMocks()
  temp.remove()
})

const DAY = 86_400_000_000
const FORMATS = ['ndjson', 'parquet'] as const
type Format = (typeof FORMATS)[number]

/** A log with 30 events on each of the last days of October and the first of November. */
async function recordedWorld(archive: Partial<ArchiveDirectory>): Promise<World> {
  const clock = manualClock('2026-10-30T12:00:00Z')
  const rule: CleaningRule = {
    target: 'events',
    filter: 'filter[type_eq]=due',
    maxRows: 0,
    archive: { directory: temp.file('lake'), format: 'ndjson', ...archive },
  }
  const world = openWorld(memoryStore({ clock }), { rules: [rule] })
  for (let day = 0; day < 4; day++) {
    for (let n = 0; n < 30; n++) {
      void world.audit.recordCustom(
        'due',
        { n, day, text: 'é😀\n"' },
        { username: `user ${n % 3}` },
      )
      if (n % 10 === 0) void world.audit.recordCustom('other', { n })
    }
    await world.audit.flush()
    clock.advance(DAY)
  }
  return world
}

const filesIn = (extension: string): string[] =>
  fs
    .readdirSync(temp.file('lake'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(extension))
    .toSorted()

async function readFile(file: string): Promise<AuditEvent[]> {
  const events: AuditEvent[] = []
  if (file.endsWith('.parquet')) for await (const page of fromParquet(file)) events.push(...page)
  else {
    const lines = gunzipSync(fs.readFileSync(file)).toString('utf8').trimEnd().split('\n')
    events.push(...lines.map((line) => JSON.parse(line) as AuditEvent))
  }
  return events
}

async function readLake(format: Format): Promise<AuditEvent[]> {
  const files = filesIn(format === 'parquet' ? '.parquet' : '.ndjson.gz')
  const pages = await Promise.all(files.map((file) => readFile(temp.file(`lake/${file}`))))
  return pages.flat().toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1))
}

const due = async (world: World): Promise<AuditEvent[]> =>
  (await world.all()).filter(({ type }) => type === 'due')

/** The prototype of Node's file handles. */
async function handles(): Promise<{ sync: () => Promise<void>; write: () => Promise<unknown> }> {
  const handle = await open(temp.file('probe'), 'w')
  await handle.close()
  return Object.getPrototypeOf(handle) as Awaited<ReturnType<typeof handles>>
}

describe.each(FORMATS)('an archive by month in the format %s', (format) => {
  it('holds each removed event once, in files of bounded size that the manifest lists', async () => {
    const world = await recordedWorld({ format, maxRows: 25, mode: 0o640 })
    const stored = await due(world)
    const [result] = await world.cleaning.run()
    expect(result).toMatchObject({ removed_count: 120, archived_count: 120 })
    expect(await due(world)).toEqual([])
    expect(await readLake(format)).toEqual(stored)
    const extension = format === 'parquet' ? 'parquet' : 'ndjson.gz'
    const name = String.raw`events-2026-\d\d-\d\dT\d\d_\d\d_\d\d\.\d{6}Z-2026-\d\d-\d\dT\S+Z-[0-9a-f]{8}\.${extension}`
    const files = filesIn(extension)
    expect(files.map((file) => file.slice(0, 18))).toEqual([
      ...Array<string>(3).fill('year=2026/month=10'),
      ...Array<string>(3).fill('year=2026/month=11'),
    ])
    for (const file of files) {
      expect(file.slice(19)).toMatch(new RegExp(`^${name}$`))
      expect(fs.statSync(temp.file(`lake/${file}`)).mode & 0o777).toBe(0o640)
    }
    expect(result!.archive_file).toBe(temp.file(`lake/${files.at(-1)}`))
    expect(fs.readdirSync(temp.file('lake')).toSorted()).toEqual(['manifest.ndjson', 'year=2026'])
    expect(await verifyArchive(temp.file('lake'))).toMatchObject({
      files: 6,
      events: 120,
      faults: [],
    })
    await world.close()
  })

  it('gives data tools the events by month', async () => {
    const world = await recordedWorld({ format, ...(format === 'parquet' && { columns: ['day'] }) })
    await world.cleaning.run()
    const source =
      format === 'parquet'
        ? `read_parquet('${temp.file('lake')}/**/*.parquet', hive_partitioning = true)`
        : `read_ndjson('${temp.file('lake')}/**/*.ndjson.gz', hive_partitioning = true)`
    const [rows] = await queryDuckDb(
      `SELECT month::INTEGER AS month, count(DISTINCT id)::INTEGER AS events FROM ${source} GROUP BY ALL ORDER BY month`,
    )
    expect(rows).toEqual([
      { month: 10, events: 60 },
      { month: 11, events: 60 },
    ])
    await world.close()
  })

  it('adds the file of a killed run to the manifest, and removes unfinished ones', async () => {
    const world = await recordedWorld({ format })
    const stored = await due(world)
    await world.cleaning.run()
    const [october] = filesIn(format === 'parquet' ? 'parquet' : 'gz')
    const lines = fs.readFileSync(temp.file('lake/manifest.ndjson'), 'utf8').split('\n')
    expect(lines[0]).toContain(october)
    // The state after a loss of power: the line of a file is missing, and another line is incomplete.
    fs.writeFileSync(temp.file('lake/manifest.ndjson'), `${lines[1]}\n${lines[0]!.slice(0, 50)}`)
    expect((await verifyArchive(temp.file('lake'))).faults).toEqual([
      { file: october, fault: 'unlisted' },
    ])
    const ours = temp.file('lake/year=2026/month=10/.events-0a1b2c3d.partial')
    const others = temp.file('lake/year=2026/month=10/.other-0a1b2c3d.partial')
    fs.writeFileSync(ours, 'begun')
    fs.writeFileSync(others, 'begun')
    await world.audit.recordCustom('due', { n: 'later' })
    await world.cleaning.run()
    expect(fs.existsSync(ours)).toBe(false)
    expect(fs.existsSync(others)).toBe(true)
    const added = fs.readFileSync(temp.file('lake/manifest.ndjson'), 'utf8').split('\n')
    expect(added).toContain(lines[0])
    expect(await verifyArchive(temp.file('lake'))).toMatchObject({ events: 121, faults: [] })
    expect((await readLake(format)).slice(0, 120)).toEqual(stored)
    await world.close()
  })

  it.each(['sync', 'write'] as const)('loses no event where any %s fails', async (step) => {
    const world = await recordedWorld({ format })
    const stored = await due(world)
    const prototype = await handles()
    const original = prototype[step]
    let failed = 0
    for (let error: string | undefined = ''; error !== undefined; failed++) {
      let left = failed
      const spy = vi.spyOn(prototype, step).mockImplementation(function (this: object, ...args) {
        if (left-- === 0) throw new Error('ENOSPC: no space left on device')
        return original.apply(this as never, args)
      })
      const [result] = await world.cleaning.run()
      spy.mockRestore()
      error = result!.error
      if (error !== undefined) expect(error).toContain('ENOSPC')
      const kept = [...(await readLake(format)), ...(await due(world))]
      expect(new Set(kept.map(({ id }) => id)).size).toBe(stored.length)
      expect(filesIn('.partial')).toEqual([])
    }
    expect(failed).toBeGreaterThan(3)
    expect(await due(world)).toEqual([])
    expect((await verifyArchive(temp.file('lake'))).faults).toEqual([])
    await world.close()
  })
})

describe('verifyArchive', () => {
  it('finds files that are missing or were changed', async () => {
    const world = await recordedWorld({ maxRows: 30 })
    await world.cleaning.run()
    const [first, second, ...others] = filesIn('gz')
    fs.rmSync(temp.file(`lake/${first}`))
    const bytes = fs.readFileSync(temp.file(`lake/${second}`))
    bytes[20]! ^= 1
    fs.writeFileSync(temp.file(`lake/${second}`), bytes)
    expect(await verifyArchive(temp.file('lake'))).toMatchObject({
      files: others.length,
      events: 60,
      faults: [
        { file: first, fault: 'missing' },
        { file: second, fault: 'changed' },
      ],
    })
    await expect(verifyArchive(temp.file('no such'))).rejects.toThrow('ENOENT')
    await world.close()
  })
})

describe('the option', () => {
  it.each<[string, unknown]>([
    ['archive of a cleaning rule has no option folder; it has directory, format', { folder: 'a' }],
    ['archive.format must be ndjson or parquet', { directory: 'a', format: 'csv' }],
    ['archive.directory must be the name of a directory', { directory: '', format: 'ndjson' }],
    ['archive.columns needs the format parquet', { directory: 'a', format: 'ndjson', columns: [] }],
    ['archive.columns must be a list', { directory: 'a', format: 'parquet', columns: [1] }],
    ['archive.maxRows must be', { directory: 'a', format: 'ndjson', maxRows: 0 }],
    ['archive.maxBytes must be', { directory: 'a', format: 'ndjson', maxBytes: 0.5 }],
    ['archive.mode must be', { directory: 'a', format: 'ndjson', mode: 0o400 }],
  ])('is refused with: %s', (message, archive) => {
    const rule = { target: 'events', maxRows: 0, archive } as CleaningRule
    expect(() => openWorld(memoryStore(), { rules: [rule] })).toThrow(message)
  })
})
