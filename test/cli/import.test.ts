import fs from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { AuditLog, type AuditEvent } from 'daybook'
import { presets } from 'daybook/presets'
import { sqliteStore } from 'daybook/sqlite'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { postgresDatabase } from '../support/database.js'
import { fileOf, recordsOf, TRIED_PRESETS } from '../support/preset-records.js'
import { tempDir } from '../support/temp.js'
import { type CliResult, runCli } from './run-cli.js'

const root = path.resolve(import.meta.dirname, '../..')
const fixture = (name: string): string => path.join(root, 'test/fixtures', name)
const CLOUD_TRAIL = fixture('security-datasets/aws-cloudtrail.ndjson.gz')

let temp: ReturnType<typeof tempDir>
let log: string
beforeEach(() => {
  temp = tempDir()
  log = temp.file('audit.db')
})
afterEach(() => temp.remove())

const lines = (name: string, content: string | Buffer): string => {
  fs.writeFileSync(temp.file(name), content)
  return temp.file(name)
}
const imported = (...args: readonly string[]): Promise<CliResult> =>
  runCli(['import', log, ...args])
const counted = async (...args: readonly string[]): Promise<number> =>
  Number((await runCli(['count', log, ...args])).stdout)

describe('daybook import of whole events', () => {
  it('reads ndjson, ndjson.gz and parquet, and skips events that are stored', async () => {
    await imported(CLOUD_TRAIL, '--preset', 'cloudtrail')
    const { stdout: exported } = await runCli(['export', log])
    const parquet = temp.file('events.parquet')
    await runCli(['export', log, '--format', 'parquet', '--out', parquet])
    const files = [lines('e.ndjson', exported), lines('e.ndjson.gz', gzipSync(exported)), parquet]
    for (const file of files) {
      const copy = `${file}.db`
      const first = await runCli(['import', copy, file])
      expect([first.exit, first.stdout]).toEqual([0, expect.stringMatching(/: 103 events in /)])
      const again = await runCli(['import', copy, file])
      expect(again.stdout).toMatch(/: 0 events, 103 already there in /)
      expect((await runCli(['export', copy])).stdout).toBe(exported)
    }
  })

  it('names the line that is not an event, and keeps the events before it', async () => {
    const file = lines('wrong.ndjson', '{"id":1}\n')
    expect(await imported(file)).toMatchObject({
      exit: 1,
      stderr: `error: ${file}: line 1: not an event with id and created_at; --record records other lines\n`,
    })
  })
})

describe('daybook import of other records', () => {
  it('records a known log by its preset, each line once', async () => {
    expect((await imported(CLOUD_TRAIL, '--preset', 'cloudtrail', '--dry-run')).stdout).toMatch(
      /: 103 events in /,
    )
    expect(fs.existsSync(log)).toBe(false)
    const { exit, stdout, stderr } = await imported(CLOUD_TRAIL, '--preset', 'cloudtrail')
    expect([exit, stdout, stderr]).toEqual([
      0,
      expect.stringMatching(
        /: 103 events in .*\ncreated_at of 103 events is the time of the record\n$/,
      ),
      '',
    ])
    const own = (await runCli(['list', log, 'limit=1000', '--json'])).stdout.trimEnd().split('\n')
    for (const line of own) {
      const { created_at, attributes } = JSON.parse(line) as AuditEvent
      expect(attributes['occurred_at']).toMatch(created_at.slice(0, 19))
    }
    expect(await counted('filter[type_start]=aws:ec2:&filter[username_eq]=pedro')).toBe(80)
    await imported(CLOUD_TRAIL, '--preset', 'cloudtrail')
    expect(await counted()).toBe(103)
    const audit = new AuditLog({ store: sqliteStore({ filename: log }), types: {} })
    await audit.recordCustom('deploy:note')
    await audit.flush()
    // The age of imported events says nothing about the clock.
    expect((await audit.list('filter[type_start]=warn:')).events).toEqual([])
    await audit.close()
    const later = await imported(
      '--record',
      '--time',
      'at',
      lines('later', '{"at":"2024-03-01"}\n'),
    )
    expect(later.stdout).toMatch(/\nthe log was not empty: created_at of 1 event is /)
    expect(await counted('filter[created_at_lt]=2025-01-01')).toBe(103)
  })

  it.each(TRIED_PRESETS)('counts the types of %s as its records have them', async (name) => {
    const { exit, stdout } = await imported(fileOf(name), '--preset', name, '--json')
    const records = recordsOf(name)
    expect(exit).toBe(0)
    // The Keywords of Windows records are integers of 64 bits, which no double prints.
    const altered = name === 'windows' ? 170 : 0
    expect(JSON.parse(stdout)).toMatchObject({ recorded: records.length, altered, undated: 0 })
    const { eventOf } = presets.find((preset) => preset.name === name)!
    const types: Record<string, number> = {}
    for (const record of records) {
      const { type } = eventOf(record)!
      types[type] = (types[type] ?? 0) + 1
    }
    const by = await runCli(['count', log, '--by', 'type', '--top', '100', '--json'])
    const { values } = JSON.parse(by.stdout) as { values: { value: string; count: number }[] }
    expect(Object.fromEntries(values.map(({ value, count }) => [value, count]))).toEqual(types)
  })

  it('records a record of a preset once, also from different files', async () => {
    await imported(fileOf('papertrail'), '--preset', 'papertrail', '--limit', '50')
    const all = recordsOf('papertrail').toReversed()
    const file = lines('reversed', all.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const { stdout } = await imported(file, '--preset', 'papertrail')
    expect(stdout).toContain(`: ${all.length - 50} events, 50 already there in `)
    expect(await counted()).toBe(all.length)
    const row = `${JSON.stringify(all[0])}\n`
    const twice = await runCli([
      'import',
      `${log}2`,
      lines('twice', row + row),
      '--preset',
      'papertrail',
    ])
    expect(twice.stdout).toContain(': 1 event, 1 already there in ')
  })

  it.each<[preset: string, rows: readonly object[]]>([
    [
      'papertrail',
      [{ object: 'one' }, { object: 'other' }].map((row) => ({
        ...{ id: 1, item_type: 'Page', item_id: 1, event: 'create', created_at: '2026-11-24' },
        ...row,
      })),
    ],
    [
      // A client may choose the id of its request.
      'kubernetes',
      ['get', 'delete'].map((verb) => ({
        ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', stage: 'ResponseComplete' },
        ...{ auditID: '11111111-2222-4333-8444-555555555555', verb, user: { username: 'ann' } },
      })),
    ],
  ])('keeps both records of %s with the same id', async (preset, rows) => {
    const file = lines('rows', rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    const first = await imported(file, '--preset', preset)
    expect([first.exit, first.stdout]).toEqual([0, expect.stringMatching(/: 2 events\b/)])
    const { stdout } = await imported(file, '--preset', preset)
    expect(stdout).toMatch(/: 0 events, 2 already there in /)
    expect(await counted()).toBe(2)
  })

  it('records equal lines of a file and of two files, and each line of a file once', async () => {
    const content = '{"n":1}\n{"n":2}\n{"n":1}\n'
    const files = [lines('mon', content), lines('tue', content)]
    const first = await imported('--record', ...files, '--json')
    expect(first.stdout.match(/"recorded":3,"repeated":0/g)).toHaveLength(2)
    const again = await imported('--record', ...files)
    expect(again.stdout.match(/: 0 events, 3 already there in /g)).toHaveLength(2)
    fs.symlinkSync(lines('tue', `${content}{"n":1}\n`), temp.file('link'))
    expect((await imported('--record', temp.file('link'))).stdout).toMatch(
      /: 1 event, 3 already there in /,
    )
    expect(await counted()).toBe(7)
  })

  it('records into Postgres, by fields', async () => {
    const { url, remove } = await postgresDatabase()
    onTestFinished(remove)
    const fields = [
      '--record',
      '--type',
      'eventName',
      '--user',
      'userIdentity.userName',
      '--time',
      '@timestamp',
    ]
    const args = ['import', url, fixture('cloud-trail.ndjson'), ...fields]
    expect((await runCli(args)).stderr).toContain('run daybook migrate')
    await runCli(['migrate', url])
    const { exit, stdout } = await runCli(args)
    expect([exit, stdout]).toEqual([
      0,
      expect.stringMatching(/: 5 events, 1 without a valid time in /),
    ])
    expect((await runCli(['count', url])).stdout).toBe('5\n')
    expect((await runCli(['count', url, 'filter[created_at_lt]=2025-01-01'])).stdout).toBe('4\n')
    expect((await runCli(args)).stdout).toMatch(/: 0 events, 5 already there/)
  })

  it('reports lines that it cannot record', async () => {
    const file = lines(
      'log',
      '{"Channel":"Security","EventID":4624}\n{"eventName":"GetObject"}\nno\n',
    )
    const { exit, stderr } = await imported(file, '--preset', 'windows')
    expect(exit).toBe(1)
    expect(stderr).toMatch(/^\S+: line 2: no record of windows\n\S+: line 3: not JSON: .*\n$/)
  })

  it('reads stdin', async () => {
    const { exit } = await runCli(['import', log, '-', '--record'], { stdin: '{"n":1}\n{"n":2}\n' })
    expect([exit, await counted()]).toEqual([0, 2])
  })

  it.each([
    [['none.ndjson'], 'there is no file none.ndjson'],
    [['--preset', 'cloudtrial'], 'did you mean cloudtrail?'],
    [['--preset', 'windows', '--type', 'EventID'], '--preset windows takes no --type'],
    [['--user', 'name'], '--user needs --record'],
    [['--record', '--limit', 'no'], '--limit no: must be a whole number of at least 1'],
  ])('refuses %j', async (args, message) => {
    const { exit, stderr } = await imported(...args, CLOUD_TRAIL)
    expect(exit).toBe(2)
    expect(stderr).toContain(message)
    expect(fs.existsSync(log)).toBe(false)
  })
})
