import fs from 'node:fs'
import type { AuditEvent, JsonObject } from 'daybook'
import { AuditLog, defineEventTypes } from 'daybook'
import { fromParquet, parquetWriter, type ParquetOptions, toParquet } from 'daybook/parquet'
import { memoryStore } from 'daybook/memory'
import { afterAll, describe, expect, it } from 'vitest'
import { describeEvent } from '../../../src/describing/describe-event.js'
import { sentenceText } from '../../../src/describing/sentence-text.js'
import { eventId } from '../../../src/event/event-id.js'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { levelOf } from '../../../src/event/level.js'
import { formatTimestamp } from '../../../src/event/timestamp.js'
import { queryDuckDb } from '../../support/duckdb.js'
import { tempDir } from '../../support/temp.js'
import { plainEvent } from '../../support/plain-events.js'

const temp = tempDir()
afterAll(temp.remove)

const START = 1_780_000_000_000_001

const HOSTILE = [
  '\0',
  'a\0b',
  '\uFEFFbyte order mark',
  '😀 \u{10FFFF} \uFFFF \uE000',
  `'"; DROP TABLE events; --`,
  '\\u0000 \\ud800',
  'Σίσυφος é e\u0301 \u202Eright to left',
  'line\nbreak\r\n\ttab \u007F \u0085 \u2028',
  '',
  ' ',
  'null',
  'x'.repeat(100_000),
]

/** Texts as names of users, sources and attributes, and values of all types. */
const hostile: readonly AuditEvent[] = HOSTILE.flatMap((text, i) => {
  const at = (n: number): Pick<AuditEvent, 'id' | 'created_at'> => {
    const time = START + i * 10 + n
    return { id: eventId(time, 'a1b2c3d4e5f60718'), created_at: formatTimestamp(time) }
  }
  const attributes: JsonObject = {
    name: text,
    [text]: [1, -0.5, 1e300, 9_007_199_254_740_991, true, null, { [text]: text }],
  }
  return [
    {
      ...at(0),
      username: text,
      system: true,
      type: 'api:projects:create',
      source: text,
      attributes,
    },
    { ...at(1), username: null, system: false, type: text || 'note', source: null, attributes: {} },
  ]
})

/** Years that few programs can read, the first microsecond, and the last microsecond that a number holds exactly. */
const edges: readonly AuditEvent[] = [0, 1, 999_999, 2 ** 53 - 1].map((time) =>
  plainEvent({ created_at: formatTimestamp(time), username: 'ann', attributes: { time } }),
)

const all = [...edges.slice(0, 3), ...hostile, edges[3]!]

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = []
  for await (const item of items) all.push(item)
  return all
}

const mark = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : `=${text}`

let files = 0

async function writeFile(
  events: readonly AuditEvent[],
  options: ParquetOptions = {},
): Promise<string> {
  const file = temp.file(`${++files}.parquet`)
  const parts = await collect(toParquet([events.slice(0, 2), events.slice(2)], options))
  fs.writeFileSync(file, Buffer.concat(parts))
  return file
}

const readFile = async (file: string): Promise<readonly AuditEvent[]> =>
  (await collect(fromParquet(file))).flat()

describe('a Parquet file', () => {
  it.each([
    ['in one row group', {}],
    ['in row groups of three events', { rowGroup: { rows: 3 } }],
    ['in row groups of 1000 bytes', { rowGroup: { bytes: 1000 } }],
  ])('%s gives back the same events', async (_, options) => {
    expect(await readFile(await writeFile(all, options))).toEqual(all)
  })

  it('returns events whose attributes are not parsed', async () => {
    const lazy = all.map(({ attributes, ...own }) => new LazyEvent(own, JSON.stringify(attributes)))
    expect(await readFile(await writeFile(lazy))).toEqual(all)
  })

  it('may have no events', async () => {
    const file = await writeFile([])
    expect(await readFile(file)).toEqual([])
    expect(await queryDuckDb(`SELECT count(*) AS n FROM '${file}'`)).toEqual([[{ n: '0' }]])
  })

  it('has events that can be imported and exported again', async () => {
    await using log = new AuditLog({ store: memoryStore(), types: {} })
    const types = new Set(HOSTILE.slice(2, 5))
    const valid = all.filter(({ system, type }) => system || types.has(type))
    const past = valid.slice(3, -1)
    for await (const events of fromParquet(await writeFile(past))) await log.importEvents(events)
    const { events } = await log.list({ limit: 1000 })
    const copied = await writeFile(events)
    expect(await readFile(copied)).toEqual(events)
    expect(events).toHaveLength(past.length)
  })
})

describe('DuckDB', () => {
  it('reads every column and its type', async () => {
    const types = defineEventTypes({
      'api:projects:create': { data: ['name'], sentence: 'created {name}' },
    })
    const columns = ['name', 'time', 'nothing', 'type', 'name']
    const file = await writeFile(all, { types, columns, rowGroup: { rows: 7 } })
    // The client of DuckDB drops a byte order mark at the start of a text.
    const marked = [
      ...['level', 'type', 'username', 'source', 'attributes', 'sentence'],
      ...['name', 'time', 'nothing'],
    ].map((name) => `'=' || ${name} AS ${name}`)
    const [described, rows] = await queryDuckDb(
      `SELECT column_name AS name, column_type AS type FROM (DESCRIBE SELECT * FROM '${file}')`,
      `SELECT epoch_us(created_at) AS created_at, id, system, ${marked.join()} FROM '${file}'`,
    )
    expect(described!.map(({ name, type }) => `${name as string} ${type as string}`)).toEqual([
      'created_at TIMESTAMP WITH TIME ZONE',
      'id UUID',
      'level VARCHAR',
      'type VARCHAR',
      'username VARCHAR',
      'source VARCHAR',
      'system BOOLEAN',
      'attributes VARCHAR',
      'sentence VARCHAR',
      'name VARCHAR',
      'time VARCHAR',
      'nothing VARCHAR',
    ])
    const micros = (text: string): number =>
      Date.parse(`${text.slice(0, 23)}Z`) * 1000 + Number(text.slice(23, 26))
    expect(rows).toEqual(
      all.map((event) => ({
        created_at: String(micros(event.created_at)),
        id: event.id,
        level: mark(levelOf(event.type)),
        type: mark(event.type),
        username: mark(event.username),
        source: mark(event.source),
        system: event.system,
        attributes: mark(JSON.stringify(event.attributes)),
        sentence: mark(sentenceText(describeEvent(event, { types }))),
        name: mark(event.attributes['name'] as string | undefined),
        time: mark((event.attributes['time'] as number | undefined)?.toString()),
        nothing: null,
      })),
    )
  })

  it('finds events by time, id and texts in few row groups', async () => {
    const file = await writeFile(all, { rowGroup: { rows: 2 } })
    const { id, created_at } = hostile[4]!
    const found = await queryDuckDb(
      `SELECT count(*) AS n FROM '${file}' WHERE id = '${id}'`,
      `SELECT count(*) AS n FROM '${file}' WHERE created_at < '${created_at}'`,
      `SELECT count(*) AS n FROM '${file}' WHERE username = '\\u0000 \\ud800'`,
      `SELECT count(*) AS n FROM '${file}' WHERE attributes->>'name' = '\\u0000 \\ud800'`,
    )
    expect(found.map(([row]) => row!['n'])).toEqual(['1', '7', '1', '1'])
  })
})

describe('a column of an attribute', () => {
  it('has text unchanged, other values as JSON, and several values as an array', async () => {
    const given: readonly JsonObject[] = [
      { url_params: { code: 'a' } },
      { url_params_code: 7 },
      { url_params: [{ code: true }, { code: 'b' }] },
      { url_params: { code: null } },
      { url_params: { code: { nested: [] } } },
    ]
    const events = given.map((attributes) => ({ ...hostile[0]!, attributes }))
    const file = await writeFile(events, { columns: ['url_params_code'] })
    const [rows] = await queryDuckDb(`SELECT url_params_code AS code FROM '${file}'`)
    expect(rows!.map(({ code }) => code)).toEqual(['a', '7', '[true,"b"]', null, '{"nested":[]}'])
  })

  it('is read in steps if the event has many values', async () => {
    const many = Array.from({ length: 60_000 }, () => ({ code: 1 }))
    const events = [{ ...hostile[0]!, attributes: { many } }]
    const file = await writeFile(events, { columns: ['many_code'] })
    const [rows] = await queryDuckDb(`SELECT json_array_length(many_code) AS n FROM '${file}'`)
    expect(rows).toEqual([{ n: String(many.length) }])
  })
})

describe('a writer', () => {
  it('returns the bytes of row groups as soon as they are complete', async () => {
    const writer = parquetWriter({ rowGroup: { rows: 4 } })
    // The signature of the format comes first.
    const lengths: number[] = [(await writer.add([])).length]
    for (const event of hostile.slice(0, 9)) lengths.push((await writer.add([event])).length)
    const hasBytes = lengths.map((length) => length > 0)
    expect(hasBytes).toEqual([true, false, false, false, true, false, false, false, true, false])
    expect((await writer.finish()).length).toBeGreaterThan(0)
  })

  it.each([
    { rowGroup: { rows: 0 } },
    { rowGroup: { bytes: 1.5 } },
    { columns: [''] },
    { columns: 'name' as never },
  ])('refuses %j', (options) => {
    expect(() => parquetWriter(options)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})

describe('reading', () => {
  it('refuses a file without the columns of events', async () => {
    const file = temp.file('other.parquet')
    await queryDuckDb(`COPY (SELECT 1 AS id, 'x' AS type) TO '${file}' (FORMAT parquet)`)
    await expect(readFile(file)).rejects.toMatchObject({
      code: 'INVALID_EVENT',
      message: expect.stringContaining('created_at, username, system, source, attributes'),
    })
  })

  it('takes a copy that DuckDB has written', async () => {
    const [file, copy] = [await writeFile(all), temp.file('copy.parquet')]
    await queryDuckDb(
      `COPY (SELECT * FROM '${file}') TO '${copy}' (FORMAT parquet, COMPRESSION gzip)`,
    )
    expect(await readFile(copy)).toEqual(all)
  })
})
