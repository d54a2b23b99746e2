import fs from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Readable } from 'node:stream'
import zlib, { gzipSync } from 'node:zlib'
import { AuditLog, type AuditEvent, AuditLogError, type JsonObject } from 'daybook'
import { memoryStore } from 'daybook/memory'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type RecordedLines,
  recordLines,
  type RecordLinesOptions,
} from '../../adapters/cli/importing/record-lines.js'
import { type CreatedAt, createOwnTimes } from '../../adapters/cli/importing/own-times.js'
import { recordsOf } from '../../adapters/cli/files/json-records.js'
import { tempDir } from '../support/temp.js'

const root = path.resolve(import.meta.dirname, '../..')
const fixture = (name: string): Buffer => fs.readFileSync(path.join(root, 'test/fixtures', name))

/** Parses a file of JSON lines with `JSON.parse`. */
const objectsIn = (content: Buffer): JsonObject[] =>
  content
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)

const CLOUD_FIELDS = { type: 'eventName', user: 'userIdentity.userName', time: '@timestamp' }
const WINDOWS_FIELDS = {
  type: 'EventID',
  typePrefix: 'windows:',
  user: 'SubjectUserName',
  time: '@timestamp',
}
const CLEAN = {
  ...{ repeated: 0, malformed: 0, refused: 0, undated: 0, dated: 0, outside: 0, altered: 0 },
  problems: [],
}

let temp: ReturnType<typeof tempDir>
let audit: AuditLog

beforeEach(() => {
  temp = tempDir()
  const links = [{ attribute: 'change_id', kind: 'uuid', path: '/c/{change_id}', rank: 1 }] as const
  audit = new AuditLog({ store: memoryStore(), types: {}, links })
})

afterEach(async () => {
  await audit.close()
  temp.remove()
})

const write = (content: string | Buffer): string => {
  fs.writeFileSync(temp.file('log.ndjson'), content)
  return temp.file('log.ndjson')
}

const importContent = (
  content: string | Buffer,
  options: Partial<RecordLinesOptions> = {},
): Promise<RecordedLines> => recordLines({ audit, file: write(content), ...options })

async function recorded(): Promise<AuditEvent[]> {
  const found: AuditEvent[] = []
  for await (const events of audit.pages('filter[sorts]=created_at')) found.push(...events)
  return found
}

const importedAttributes = async (): Promise<JsonObject[]> =>
  (await recorded()).map((event) => event.attributes)

const noEvents = () => Promise.resolve({ events: [], truncated: false })

const line = (payload: object): string => `${JSON.stringify(payload)}\n`

describe('a file of JSON lines', () => {
  const containers: [string, (content: Buffer) => Buffer][] = [
    ['plain', (content) => content],
    ['gzip', (content) => gzipSync(content)],
    ['several gzip members', (content) => joinedMembers(content)],
  ]

  function joinedMembers(content: Buffer): Buffer {
    const middle = content.length >> 1
    return Buffer.concat([
      gzipSync(content.subarray(0, middle)),
      gzipSync(content.subarray(middle)),
    ])
  }

  it.each(containers)('is recorded line by line with complete payloads (%s)', async (_, pack) => {
    const content = fixture('cloud-trail.ndjson')
    const summary = await importContent(pack(content), CLOUD_FIELDS)
    expect(summary).toEqual({ ...CLEAN, recorded: 5, undated: 1 })
    const events = await recorded()
    expect(events.map(({ type, username, system }) => [type, username, system])).toEqual([
      ['RunInstances', 'pedro', false],
      ['GetObject', 'jörg', false],
      ['AssumeRole', null, false],
      ['DescribeInstances', 'pedro', false],
      ['ConsoleLogin', null, false],
    ])
    expect(events.map(({ attributes }) => attributes['occurred_at'])).toEqual([
      '2024-02-29T07:15:00.000000Z',
      '2024-02-29T07:15:00.000000Z',
      '2024-02-29T07:15:01.500000Z',
      '2024-02-29T07:15:02.123456Z',
      undefined,
    ])
    expect(events.map(payloadOf)).toEqual(objectsIn(content))
  })

  it.each(containers)('keeps numbers and strings (%s)', async (_, pack) => {
    const content = fixture('windows-log.ndjson')
    const summary = await importContent(pack(content), WINDOWS_FIELDS)
    // Bits in an integer of 64 bits, which no double prints.
    expect(summary).toEqual({ ...CLEAN, recorded: 5, altered: 5 })
    const events = await recorded()
    expect(events.map(({ type, username }) => [type, username])).toEqual([
      ['windows:4624', 'SRV-07$'],
      ['windows:1', null],
      ['windows:4663', 'nadja'],
      ['windows:12', null],
      ['windows:4634', 'nadja'],
    ])
    const recording = { replaced: ['/Keywords'], cut_bytes: 0 }
    expect(events.map(payloadOf)).toEqual(
      objectsIn(content).map((record) => ({ ...record, Keywords: expect.any(String), recording })),
    )
    expect(events[1]!.attributes['Keywords']).toBe('-9223372036854775808')
    expect(events[4]!.attributes['Message']).toBe(
      'An account was logged off.\r\n\u2028Größe: 3 µs 🧾',
    )
  })

  function payloadOf({ attributes }: AuditEvent): JsonObject {
    const { occurred_at: _, ...payload } = attributes
    return payload
  }

  it('can be filtered, sorted and paged by any field', async () => {
    await importContent(fixture('cloud-trail.ndjson'), CLOUD_FIELDS)
    const typesOf = async (query: string): Promise<string[]> =>
      (await audit.list(query)).events.map((event) => event.type)
    expect(await typesOf('filter[userIdentity_userName_eq]=pedro')).toEqual([
      'RunInstances',
      'DescribeInstances',
    ])
    expect(await typesOf('filter[requestParameters_filterSet_items_name_end]=owner')).toEqual([
      'DescribeInstances',
    ])
    expect(await typesOf('filter[occurred_at_gt]=2024-02-29T07:15:01.000000Z')).toEqual([
      'AssumeRole',
      'DescribeInstances',
    ])
    const sorts = 'filter[sorts][]=readOnly desc&filter[sorts][]=occurred_at desc'
    expect(await typesOf(sorts)).toEqual([
      'ConsoleLogin',
      'AssumeRole',
      'DescribeInstances',
      'GetObject',
      'RunInstances',
    ])
    const last = await audit.list('limit=2')
    expect(last.truncated).toBe(true)
    const before = `filter[created_at_lt]=${last.events[0]!.created_at}`
    expect(await typesOf(before)).toEqual(['RunInstances', 'GetObject', 'AssumeRole'])
  })
})

/** A frame of zstd with one block that is not compressed. */
function zstdFrame(text: string): Buffer {
  const block = Buffer.alloc(3)
  block.writeUIntLE((text.length << 3) | 1, 0, 3)
  const head = Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x20, text.length)
  return Buffer.concat([head, block, Buffer.from(text)])
}

describe('the form of a file', () => {
  const text = '{"n":"ü"}\r\n{"n":2}'
  const little = Buffer.from(text, 'utf16le')

  it.each<[name: string, content: Buffer]>([
    ['UTF-16, little-endian', Buffer.concat([Buffer.of(0xff, 0xfe), little])],
    ['UTF-16, big-endian', Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
    ['UTF-16 without a mark', little],
    ['UTF-16 in gzip', gzipSync(Buffer.from(little).swap16())],
    ['gzip in gzip', gzipSync(gzipSync(text))],
  ])('may be %s', async (_, content) => {
    expect(await importContent(content)).toEqual({ ...CLEAN, recorded: 2 })
    expect(await importedAttributes()).toEqual([{ n: 'ü' }, { n: 2 }])
  })

  it('is known also if a pipe delivers it byte by byte', async () => {
    const stdin = Readable.from([...gzipSync(text)].map((byte) => Buffer.of(byte)))
    const summary = await recordLines({ audit, file: '-', stdin })
    expect(summary).toEqual({ ...CLEAN, recorded: 2 })
  })

  it.each([
    ['', 0],
    ['{}', 1],
    ['{} ', 1],
  ])('may have only the bytes %j', async (content, records) => {
    expect(await importContent(content)).toEqual({ ...CLEAN, recorded: records })
  })

  it('must not be gzip that is cut off after a byte', async () => {
    await expect(importContent(gzipSync('{}').subarray(0, 1))).rejects.toThrow(
      /log\.ndjson: the compressed data is cut off or damaged: unexpected end of file$/,
    )
  })

  it('may be zstd if Node supports it', async () => {
    const importing = importContent(zstdFrame('{"n":1}'))
    if ('createZstdDecompress' in zlib) expect((await importing).recorded).toBe(1)
    else await expect(importing).rejects.toThrow(/^\S+log\.ndjson: zstd is read by Node\.js 22\.15/)
  })

  it.each([
    ['xz', 'fd377a585a00'],
    ['bzip2', '425a68393141'],
    ['zip', '504b03041400'],
    ['lz4', '04224d186470'],
  ])('may not be %s', async (name, bytes) => {
    await expect(importContent(Buffer.from(bytes, 'hex'))).rejects.toThrow(
      `log.ndjson: ${name} is not read; decompress the file first`,
    )
  })

  it('must not be UTF-16 that is cut off', async () => {
    const importing = importContent(Buffer.concat([Buffer.of(0xff, 0xfe), little.subarray(0, -1)]))
    await expect(importing).rejects.toThrow(/, 1 events recorded: the UTF-16 text is damaged$/)
  })
})

describe('records that are not one on each line', () => {
  const ABC = [{ n: 'a' }, { n: 'b]}",\\' }, { n: { deep: ['c', { value: [1] }] } }]
  const [compact, pretty] = [JSON.stringify(ABC), JSON.stringify(ABC, null, 2)]
  const list = { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: ABC }

  it.each<[name: string, content: string | Buffer]>([
    ['a list', compact],
    ['a list over many lines', pretty],
    ['a list with a byte order mark', `\uFEFF \r\n${pretty}`],
    ['a list that is compressed twice', gzipSync(gzipSync(pretty))],
    [
      'a list with a record on each line',
      `[\n${ABC.map((one) => `${JSON.stringify(one)},\n`).join('')}]`,
    ],
    ['several lists', `[[${compact.slice(1, 10)}]],[${compact.slice(11)}`],
    ['Records', `{"Records":${compact}}`],
    [
      'Records after Records',
      `{"Records":[${compact.slice(1, 10)}]}{"Records":[]}{"Records":[${compact.slice(11)}}`,
    ],
    [
      'Records on lines',
      `{"Records":[${compact.slice(1, 10)}]}\n{"Records":[${compact.slice(11)}}\n`,
    ],
    [
      'value',
      JSON.stringify({ '@odata.nextLink': 'https://x/[', value: ABC, nextLink: 'y' }, null, 1),
    ],
    ['an EventList', JSON.stringify(list)],
    ['an EventList over many lines', JSON.stringify(list, null, '\t')],
    [
      'items of Google',
      JSON.stringify({ kind: 'admin#reports#activities', etag: 'e', items: ABC }),
    ],
    ['a list of objects that hold records', JSON.stringify([{ Records: ABC }, { value: [] }])],
    ['records over many lines', ABC.map((one) => JSON.stringify(one, null, 2)).join('\n')],
    ['several records', ABC.map((one) => JSON.stringify(one)).join('')],
  ])('are read from %s', async (_, content) => {
    expect(await importContent(content)).toEqual({ ...CLEAN, recorded: 3 })
    expect(await importedAttributes()).toEqual(ABC)
  })

  it.each<[name: string, record: JsonObject]>([
    ['an order with items', { items: [{ sku: 1 }], order: 7 }],
    ['items without a kind', { items: [{ sku: 1 }] }],
    ['a value with another member', { value: [{ a: 1 }], sensor: 't' }],
    ['a value that is not a list of records', { value: [1, 2] }],
    ['two lists', { value: [{ a: 1 }], Records: [{ b: 1 }] }],
  ])('are not taken from %s', async (_, record) => {
    for (const content of [line(record), JSON.stringify(record, null, 2)])
      await importContent(content)
    expect(await importedAttributes()).toEqual([record, record])
  })

  it('are found at any place of chunks', async () => {
    const forms: readonly ((records: readonly object[], space: number) => string)[] = [
      (records, space) => JSON.stringify(records, null, space),
      (records, space) => JSON.stringify({ count: 1, Records: records, kind: 'x' }, null, space),
      (records, space) => records.map((one) => JSON.stringify(one, null, space)).join('\n'),
    ]
    const record = fc.dictionary(fc.string(), fc.jsonValue()).map((one) => ({ id: 1, ...one }))
    const property = fc.asyncProperty(
      fc.array(record, { minLength: 1, maxLength: 4 }),
      fc.constantFrom(...forms),
      fc.nat(2),
      fc.integer({ min: 1, max: 9 }),
      async (records, form, space, size) => {
        const bytes = Buffer.from(form(records, space))
        const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) =>
          bytes.subarray(n * size, (n + 1) * size),
        )
        const found: unknown[] = []
        for await (const some of recordsOf(Readable.from(chunks)))
          for (const { value } of some) found.push(value)
        expect(found).toEqual(JSON.parse(JSON.stringify(records)))
      },
    )
    await fc.assert(property, { seed: 20_261_129, numRuns: 200 })
  })

  it('are read from an object of any size', async () => {
    const records = Array.from({ length: 40 }, (_, n) => ({ n, text: 'x'.repeat(500_000) }))
    const content = JSON.stringify({ count: 40, value: records, nextLink: 'https://[' })
    for (const text of [content, content.replaceAll('},{', '},\n{')]) {
      expect(await importContent(text)).toEqual({ ...CLEAN, recorded: 40 })
      expect((await recorded()).at(-1)!.attributes['n']).toBe(39)
    }
  })

  it('in a list of an unknown kind cause a note', async () => {
    const data = [{ n: 1 }, { n: 2 }]
    const reason =
      'the only record of the file has a list in data, whose elements are not recorded one by one'
    expect(await importContent(JSON.stringify({ took: 1, data }, null, 2))).toEqual({
      ...CLEAN,
      recorded: 1,
      problems: [{ line: 1, reason }],
    })
    expect((await importContent(line({ data }) + line({ data }))).problems).toEqual([])
  })

  it('are named with their lines if they are malformed', async () => {
    const { problems, recorded } = await importContent('[\n{"n":1},\n{"n":},\n7,{"n":2},\n{"n":3\n')
    expect(recorded).toBe(2)
    expect(problems.map((problem) => problem.line)).toEqual([3, 4, 5])
  })

  it('are missing if the text ends between them', async () => {
    const { problems } = await importContent('[{"n":1},\n')
    expect(problems).toEqual([{ line: 2, reason: 'not JSON: Unexpected end of JSON input' }])
  })
})

describe('lines', () => {
  it('that are not JSON objects are counted, listed and skipped', async () => {
    const content = Buffer.concat([
      Buffer.from('\uFEFF{"n":1}\r\n\r\n  \t\n{"n":2\n["n",3]\nnull\n{"n":"'),
      Buffer.of(0xff, 0xfe),
      Buffer.from('"}\n\u001B[31mred\n{"n":4}'),
    ])
    const summary = await importContent(content)
    expect(summary).toMatchObject({ recorded: 2, malformed: 5, refused: 0 })
    expect(summary.problems.map((problem) => problem.line)).toEqual([4, 5, 6, 7, 8])
    expect(summary.problems[1]!.reason).toBe('not a JSON object')
    expect(summary.problems[3]!.reason).toBe('not UTF-8')
    expect(summary.problems[4]!.reason).toMatch(/^not JSON: \P{Cc}+$/u)
    expect(await importedAttributes()).toEqual([{ n: 1 }, { n: 4 }])
  })

  it('that are numbers are not objects, however long', async () => {
    const { problems } = await importContent('7\n9007199254740993\n[9007199254740993]\n')
    expect(problems.map(({ reason }) => reason)).toEqual(Array(3).fill('not a JSON object'))
  })

  it('the first ten problems are listed', async () => {
    const summary = await importContent('oops\n'.repeat(12))
    expect(summary.malformed).toBe(12)
    expect(summary.problems.map((problem) => problem.line)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  })

  it('that the log refuses are counted, listed and skipped', async () => {
    const content = [{ change_id: 'no uuid' }, { kind: 'x'.repeat(256) }, { kind: 'ok' }]
    const summary = await importContent(content.map(line).join(''), { type: 'kind' })
    expect(summary).toMatchObject({ recorded: 1, malformed: 0, refused: 2 })
    expect(summary.problems).toEqual([
      { line: 1, reason: 'change_id must be a UUID' },
      { line: 2, reason: 'the event type must have 1 to 255 characters' },
    ])
  })

  it('may be longer than a chunk, but not longer than the limit', async () => {
    const text = 'Größe: 3 µs 🧾 \u2028'.repeat(20_000)
    const tooLong = `{"text":"${'x'.repeat(17 * 1024 * 1024)}"}\n`
    const summary = await importContent(line({ text, n: 1 }) + tooLong + line({ n: 2 }))
    expect(summary).toMatchObject({ recorded: 2, malformed: 1, altered: 0 })
    expect(summary.problems).toEqual([{ line: 2, reason: 'longer than 16777216 bytes' }])
    expect(await importedAttributes()).toEqual([{ text, n: 1 }, { n: 2 }])
  })

  it('blank lines do not count towards the limit', async () => {
    const summary = await importContent('{"n":1}\n\n{"n":2}\n{"n":3}\n', { limit: 2 })
    expect(summary).toEqual({ ...CLEAN, recorded: 2 })
    expect(await importedAttributes()).toEqual([{ n: 1 }, { n: 2 }])
  })

  it('keeps the text of numbers that no double holds', async () => {
    const long = 12_345_678_901_234_567_890n
    const line = `{"id":9007199254740993,"n":[1e400,-0,1.50,9007199254740992],"d":0.1234567890123456789,"kind":${long},"by":${long}}`
    const summary = await importContent(line, { type: 'kind', user: 'by' })
    expect(summary).toEqual({ ...CLEAN, recorded: 1, altered: 1 })
    expect(await recorded()).toMatchObject([
      {
        type: `${long}`,
        username: `${long}`,
        attributes: {
          attributes_id: '9007199254740993',
          n: ['1e400', 0, 1.5, 9_007_199_254_740_992],
          d: '0.1234567890123456789',
          recording: {
            replaced: ['/attributes_id', '/n/0', '/d', '/kind', '/by', '/attributes_id'],
            cut_bytes: 0,
          },
        },
      },
    ])
  })

  it('with keys of own fields are changed by the log and counted', async () => {
    const payload = { id: 7, type: 'x', occurred_at: 'yesterday', at: '2024-01-01' }
    const summary = await importContent(line(payload), { time: 'at' })
    expect(summary).toEqual({ ...CLEAN, recorded: 1, altered: 1 })
    expect(await importedAttributes()).toEqual([
      {
        attributes_id: 7,
        attributes_type: 'x',
        occurred_at: 'yesterday',
        at: '2024-01-01',
        recording: { replaced: ['/attributes_id', '/attributes_type'], cut_bytes: 0 },
      },
    ])
  })
})

describe('fields', () => {
  const payload = {
    winlog: { event_id: 4625, 'user.name': 'nadja' },
    'log.level': 'warn',
    log: { file: 'a' },
    empty: '',
    flag: true,
  }

  it.each([
    ['winlog.event_id', 'w:4625'],
    ['winlog.user.name', 'w:nadja'],
    ['log.level', 'w:warn'],
    ['log.file', 'w:a'],
    ['log', 'import:record'],
    ['log.missing', 'import:record'],
    ['flag', 'import:record'],
    ['empty', 'import:record'],
    ['constructor.name', 'import:record'],
    [undefined, 'import:record'],
  ])('the type at %s is %s', async (type, expected) => {
    await importContent(line(payload), { type, typePrefix: 'w:' })
    expect((await recorded()).map((event) => event.type)).toEqual([expected])
  })

  it('lines without a type get the given literal', async () => {
    await importContent(line(payload), { type: 'nix', typePrefix: 'w:', typeLiteral: 'legacy' })
    expect((await recorded()).map((event) => event.type)).toEqual(['legacy'])
  })

  it.each([
    ['2024-07-01T12:00:00+02:00', '2024-07-01T10:00:00.000000Z'],
    ['20240701T100000.5Z', '2024-07-01T10:00:00.500000Z'],
    ['2024-07-01 10:00:00', '2024-07-01T10:00:00.000000Z'],
    ['2024-07-01', '2024-07-01T00:00:00.000000Z'],
    [1_719_828_000, '2024-07-01T10:00:00.000000Z'],
    [1_719_828_000.25, '2024-07-01T10:00:00.250000Z'],
    [1_719_828_000_123, '2024-07-01T10:00:00.123000Z'],
    [0, '1970-01-01T00:00:00.000000Z'],
    ['1719828000', '2024-07-01T10:00:00.000000Z'],
    ['1719828000.1234567', '2024-07-01T10:00:00.123456Z'],
    ['1719828000123', '2024-07-01T10:00:00.123000Z'],
    ['1719828000123.456', '2024-07-01T10:00:00.123456Z'],
    ['1719828000123456', '2024-07-01T10:00:00.123456Z'],
    [1_719_828_000_123_456, '2024-07-01T10:00:00.123456Z'],
    ['1719828000123456789', '2024-07-01T10:00:00.123456Z'],
    [1_719_828_000_123_456_800, '2024-07-01T10:00:00.123456Z'],
    ['171982800012345678901', undefined],
    ['42', undefined],
    ['', undefined],
    ['1e9', undefined],
    ['2024-02-30T00:00:00Z', undefined],
    ['last Monday', undefined],
    [1e300, undefined],
    [-1, undefined],
    [null, undefined],
  ])('the time %j becomes occurred_at %j', async (at, expected) => {
    const summary = await importContent(line({ at }), { time: 'at' })
    expect(summary).toEqual({ ...CLEAN, recorded: 1, undated: expected === undefined ? 1 : 0 })
    expect((await importedAttributes())[0]!['occurred_at']).toBe(expected)
  })
})

it('a field occurred_at that is the option for the time gets the format of times', async () => {
  await importContent(line({ occurred_at: '2024-07-01T12:00+02:00' }), { time: 'occurred_at' })
  expect(await importedAttributes()).toEqual([{ occurred_at: '2024-07-01T10:00:00.000000Z' }])
})

describe('times of records', () => {
  const at = (second: number, n: number): string =>
    line({ at: `2024-03-01T10:00:${String(second).padStart(2, '0')}Z`, n })

  /** Imports files in one run. */
  async function importAll(files: readonly string[], createdAt?: CreatedAt) {
    const times = await createOwnTimes(audit, { createdAt })
    const found: Omit<RecordedLines, 'problems'>[] = []
    for (const [i, content] of files.entries()) {
      const keysOf = (_: unknown, number: number): string[] => [`${i}:${number}`]
      const file = write(content)
      found.push(await recordLines({ audit, file, times, time: 'at', keysOf }))
    }
    await times.end()
    return found.map(({ recorded, repeated, dated, undated, outside }) => ({
      ...{ recorded, repeated, dated, undated, outside },
    }))
  }
  const shown = async () =>
    (await recorded()).map(({ created_at, attributes }) => [created_at, attributes['n']])
  const ALL = { repeated: 0, undated: 0, outside: 0 }

  it('are created_at in an empty log, in any order of the records and the files', async () => {
    const files = [at(5, 1) + at(3, 2) + at(5, 3), at(3, 4) + at(1, 5)]
    const counts = [
      { ...ALL, recorded: 3, dated: 3 },
      { ...ALL, recorded: 2, dated: 2 },
    ]
    expect(await importAll(files)).toEqual(counts)
    const order = [
      ['2024-03-01T10:00:01.000000Z', 5],
      ['2024-03-01T10:00:03.000000Z', 2],
      ['2024-03-01T10:00:03.000001Z', 4],
      ['2024-03-01T10:00:05.000000Z', 1],
      ['2024-03-01T10:00:05.000001Z', 3],
    ]
    expect(await shown()).toEqual(order)
    const again = counts.map(({ recorded }) => ({
      ...ALL,
      recorded: 0,
      dated: 0,
      repeated: recorded,
    }))
    expect(await importAll(files)).toEqual(again)
    expect(await shown()).toEqual(order)
  })

  it('that other events have are replaced by the next free microsecond', async () => {
    const micros = (n: number): string => line({ at: `2024-03-01T10:00:00.00000${n}Z`, n })
    const times = [0, 0, 1, 1, 0, 4, 2]
    await importAll([times.map(micros).join('')])
    const found = await recorded()
    expect(found.map(({ created_at }) => created_at.slice(-7))).toEqual(
      times.map((_, n) => `00000${n}Z`).map((text) => text.slice(-7)),
    )
    expect(new Set(found.map(({ id }) => id)).size).toBe(times.length)
  })

  it('that are missing, in the future or before 1970 are counted, and created_at is the time of the import', async () => {
    const start = new Date().toISOString()
    const content = [
      ...[at(1, 1), line({ n: 2 }), line({ at: 'soon', n: 3 })],
      ...[line({ at: '2999-01-01T00:00:00Z', n: 4 }), line({ at: '1601-01-01T00:00:00Z', n: 5 })],
    ]
    expect(await importAll([content.join('')])).toEqual([
      { recorded: 5, dated: 1, undated: 2, outside: 2, repeated: 0 },
    ])
    const [first, ...others] = await recorded()
    expect(first!.created_at).toBe('2024-03-01T10:00:01.000000Z')
    expect(others.every(({ created_at }) => created_at > start)).toBe(true)
  })

  it('stay in occurred_at if the log has other events, unless an option changes this', async () => {
    await audit.recordCustom('deploy:note')
    const start = (await recorded())[0]!.created_at
    expect(await importAll([at(1, 1)])).toEqual([{ ...ALL, recorded: 1, dated: 0 }])
    const [, second] = await recorded()
    expect(second!.created_at > start).toBe(true)
    expect(second!.attributes['occurred_at']).toBe('2024-03-01T10:00:01.000000Z')
    expect(await importAll([at(2, 2)], 'record')).toEqual([{ ...ALL, recorded: 1, dated: 1 }])
    expect((await shown())[0]).toEqual(['2024-03-01T10:00:02.000000Z', 2])
    // The log has an event of the second import, so the third one looks for its records.
    expect(await importAll([at(2, 2)])).toEqual([{ ...ALL, recorded: 0, dated: 0, repeated: 1 }])
  })

  it('are replaced if another process has used them', async () => {
    const times = await createOwnTimes(audit)
    const other = await createOwnTimes(audit)
    for (const [one, key] of [
      [times, 'a'],
      [other, 'b'],
      [other, 'a'],
    ] as const)
      await one.take(
        { type: 'a', username: null, data: { occurred_at: '2024-03-01T10:00:01Z' } },
        key,
      )
    await times.flush()
    await other.flush()
    expect([times.counts(), other.counts()]).toEqual([
      { recorded: 1, repeated: 0 },
      { recorded: 1, repeated: 1 },
    ])
    expect((await recorded()).map(({ created_at }) => created_at.slice(-4))).toEqual([
      '000Z',
      '001Z',
    ])
  })

  it('belong to the events that recordCustom would record', async () => {
    const data = {
      at: '2024-03-01T10:00:01Z',
      id: 7,
      change_id: '01a1fc49-8530-71e3-821f-dfa294375957',
      text: 'a\u0000',
    }
    const bad = { ...data, change_id: '/no' }
    const times = await createOwnTimes(audit)
    const file = write(line(data) + line(bad))
    const { problems, ...counts } = await recordLines({ audit, file, times, time: 'at' })
    expect(counts).toMatchObject({ recorded: 1, dated: 1, refused: 1, altered: 1 })
    expect(problems).toEqual([{ line: 2, reason: expect.stringContaining('change_id must be') }])
    const [placed] = await recorded()
    const given = await audit.recordCustom('import:record', {
      ...data,
      occurred_at: placed!.created_at,
    })
    expect({ ...placed, id: '', created_at: '' }).toEqual({ ...given, id: '', created_at: '' })
  })
})

describe('concurrent calls', () => {
  /** Measures the peak of concurrent calls and bytes. No call ends before `wanted` calls have run at once. */
  function slowLog(wanted: number): {
    log: RecordLinesOptions['audit']
    peak: { calls: number; bytes: number }
  } {
    const peak = { calls: 0, bytes: 0 }
    const now = { calls: 0, bytes: 0 }
    const count = (calls: number, bytes: number): void => {
      now.calls += calls
      now.bytes += bytes
      peak.calls = Math.max(peak.calls, now.calls)
      peak.bytes = Math.max(peak.bytes, now.bytes)
    }
    const log: RecordLinesOptions['audit'] = {
      list: noEvents,
      async recordCustom(_type, data) {
        const bytes = JSON.stringify(data).length
        count(1, bytes)
        while (peak.calls < wanted) await delay(1)
        // More calls than that could begin now.
        await delay(20)
        count(-1, -bytes)
        return undefined
      },
    }
    return { log, peak }
  }

  it('are as many as the option says', async () => {
    const { log, peak } = slowLog(7)
    const file = write('{"n":1}\n'.repeat(100))
    await recordLines({ audit: log, file, concurrency: 7 })
    expect(peak.calls).toBe(7)
  })

  it('are fewer if the lines are large', async () => {
    const { log, peak } = slowLog(2)
    const large = line({ text: 'x'.repeat(3 * 1024 * 1024) })
    await recordLines({ audit: log, file: write(large.repeat(5)) })
    expect(peak.calls).toBe(2)
    expect(peak.bytes).toBeLessThan(8 * 1024 * 1024)
  })

  it('end before the import rejects, if the store fails', async () => {
    let calls = 0
    const log: RecordLinesOptions['audit'] = {
      list: noEvents,
      async recordCustom() {
        await delay(1)
        if (++calls === 3) throw new AuditLogError('STORE_FAILED', 'the disk is full')
        return undefined
      },
    }
    const file = write('{"n":1}\n'.repeat(100))
    await expect(recordLines({ audit: log, file, concurrency: 5 })).rejects.toThrow(
      /events recorded: the disk is full$/,
    )
    expect(calls).toBeLessThan(15)
  })

  it('are durable, if the file is cut off', async () => {
    const content = gzipSync(Buffer.from('{"n":1}\n'.repeat(10_000)))
    await expect(importContent(content.subarray(0, content.length - 10))).rejects.toThrow(
      /stopped at line \d+, \d+ events recorded: the compressed data is cut off or damaged: unexpected end of file$/,
    )
    expect((await recorded()).length).toBeGreaterThan(0)
  })
})
