import { createHash, hkdfSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { LazyEvent } from '../../../src/event/lazy-event.js'
import { jsonLine } from '../../../src/exporting/lines.js'
import {
  bodyOf,
  eventEntry,
  readStatement,
  type Statement,
  statementEntry,
} from '../../../src/ledger/entry.js'
import { eventLeaf, ROW_LEAVES, saltAt, saltsOf } from '../../../src/ledger/leaf.js'
import { plainEvent } from '../../support/plain-events.js'

const HASH = '47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
const TIME = '2026-11-22T16:09:30.280404Z'

const event = plainEvent({ username: 'änn\u2028"\\', type: 'deploy:note', attributes: { b: 1 } })
const { attributes: _, ...own } = event

describe('the body of an event', () => {
  // As Postgres or another program may have written it: with white space, and with keys that JSON.parse moves.
  const stored = '{"z": 1.0, "2": "\\u00e4", "10": [1e3]}'

  it.each([
    ['a plain event', event, '{"b":1}'],
    ['an event with stored text', new LazyEvent(own, stored), stored],
  ])('of %s is its export line without id and time', (_name, item, attributes) => {
    const line = jsonLine({ event: item })
    const head = `{"id":"${item.id}","created_at":"${item.created_at}",`
    expect(line.startsWith(head)).toBe(true)
    expect(bodyOf(item)).toBe(`{${line.slice(head.length, -1)}`)
    expect(bodyOf(item).endsWith(`,"attributes":${attributes}}`)).toBe(true)
  })

  it('keeps the stored text after a reader has parsed or changed the attributes', () => {
    const lazy = new LazyEvent(own, stored)
    const before = bodyOf(lazy)
    lazy.attributes['z'] = 2
    expect(bodyOf(lazy)).toBe(before)
  })

  it('takes the stored text of an event that does not have it', () => {
    expect(bodyOf(event, stored)).toBe(bodyOf(new LazyEvent(own, stored)))
  })

  it('does not name the log, which the export of several logs does', () => {
    const line = jsonLine({ event, log: 'a"b' })
    expect(line).toBe(`{"log":"a\\"b",${jsonLine({ event }).slice(1)}`)
  })
})

describe('the leaf of an event', () => {
  const sha256 = (...parts: readonly (string | Uint8Array)[]): Buffer => {
    const hash = createHash('sha256')
    for (const part of parts) hash.update(part)
    return hash.digest()
  }

  it.each(['event', 'late'] as const)('hashes the entry of kind %s', (kind) => {
    const salt = Buffer.alloc(16, 7)
    const body = sha256(salt, bodyOf(event)).toString('base64')
    const entry = `${kind} ${JSON.stringify({ id: event.id, created_at: event.created_at, body })}`
    expect(eventEntry(kind, event, body)).toBe(entry)
    expect(Buffer.from(eventLeaf(kind, event, salt)).equals(sha256('\0', entry))).toBe(true)
  })

  it('of a text that is longer than the buffer has the same hash', () => {
    const long = { ...event, attributes: { text: 'ä€😀'.repeat(50_000) } }
    const salt = Buffer.alloc(16)
    const body = sha256(salt, bodyOf(long)).toString('base64')
    const expected = sha256('\0', eventEntry('event', long, body))
    expect(Buffer.from(eventLeaf('event', long, salt)).equals(expected)).toBe(true)
  })

  it('has another salt for each leaf of a row', () => {
    const seed = Buffer.alloc(32, 1)
    const salts = saltsOf(seed)
    const row = Array.from({ length: ROW_LEAVES }, (_, i) => saltAt(salts, 3 * ROW_LEAVES + i))
    expect(new Set(row.map((salt) => Buffer.from(salt).toString('hex'))).size).toBe(ROW_LEAVES)
    expect(row.every((salt) => salt.length === 16)).toBe(true)
    const expected = Buffer.from(hkdfSync('sha256', seed, '', 'daybook ledger salts v1', 4096))
    expect(Buffer.concat(row).equals(expected)).toBe(true)
  })
})

describe('a statement', () => {
  const statements: readonly (readonly [string, Statement])[] = [
    [
      `removed {"rule":"debug","policy":7,"cutoff":"${TIME}","ranges":[[0,4],[6,6]],"archive":"${HASH}"}`,
      {
        kind: 'removed',
        rule: 'debug',
        policy: 7,
        cutoff: TIME,
        ranges: [
          [0, 4],
          [6, 6],
        ],
        archive: HASH,
      },
    ],
    [
      'removed {"rule":null,"policy":null,"cutoff":null,"ranges":[[9,9]],"archive":null}',
      { kind: 'removed', rule: null, policy: null, cutoff: null, ranges: [[9, 9]], archive: null },
    ],
    [
      `archived {"file":"${HASH}","ranges":[[1,2]]}`,
      { kind: 'archived', file: HASH, ranges: [[1, 2]] },
    ],
    [
      'policy {"rules":[{"name":"debug","b":1,"a":2}],"holds":[]}',
      { kind: 'policy', rules: [{ name: 'debug', b: 1, a: 2 }], holds: [] },
    ],
    [
      'acknowledged {"findings":[{"id":"a"}],"reason":"line\\nbreak"}',
      { kind: 'acknowledged', findings: [{ id: 'a' }], reason: 'line\nbreak' },
    ],
    [`waited {"from":"${TIME}","to":"${TIME}"}`, { kind: 'waited', from: TIME, to: TIME }],
    ['adopted {"ranges":[[0,8191]]}', { kind: 'adopted', ranges: [[0, 8191]] }],
    [
      'continues {"note":"a\\n1\\n","size":5,"reason":"restored"}',
      { kind: 'continues', note: 'a\n1\n', size: 5, reason: 'restored' },
    ],
  ]

  it.each(statements)('has the entry %s', (entry, statement) => {
    expect(statementEntry(statement)).toBe(entry)
    expect(readStatement(entry)).toEqual(statement)
    expect(entry).not.toContain('\n')
  })

  it('has the members in one order, whatever the order of the object', () => {
    expect(statementEntry({ to: TIME, from: TIME, kind: 'waited' })).toBe(
      `waited {"from":"${TIME}","to":"${TIME}"}`,
    )
  })

  const [removed] = statements[0]!
  it.each([
    ['another kind', removed.replace('removed', 'erased')],
    ['the kind of an event', `event {"id":"a","created_at":"${TIME}","body":"${HASH}"}`],
    ['a kind of Object', 'constructor {}'],
    ['no members', 'waited {}'],
    ['another member', removed.replace('}', ',"more":1}')],
    ['another order', `waited {"to":"${TIME}","from":"${TIME}"}`],
    ['white space', removed.replace('":', '": ')],
    ['a line break', `${removed}\n`],
    ['a member twice', `waited {"from":"${TIME}","from":"${TIME}","to":"${TIME}"}`],
    ['no JSON', removed.slice(0, -1)],
    ['a time of another form', removed.replace('.280404Z', 'Z')],
    ['a hash of another length', removed.replace('47DE', '')],
    ['a number that is no leaf', removed.replace(':7', ':-7')],
    ['ranges that overlap', removed.replace('[6,6]', '[4,6]')],
    ['ranges that touch', removed.replace('[6,6]', '[5,6]')],
    ['ranges that descend', removed.replace('[0,4],[6,6]', '[6,6],[0,4]')],
    ['a range that ends before it begins', removed.replace('[0,4]', '[4,0]')],
    ['no ranges', 'adopted {"ranges":[]}'],
    ['findings that are no objects', 'acknowledged {"findings":[1],"reason":""}'],
  ])('is not read from an entry with %s', (_name, entry) => {
    expect(readStatement(entry)).toBeUndefined()
  })

  it('that could not be read back is refused', () => {
    expect(() => statementEntry({ kind: 'adopted', ranges: [[4, 0]] })).toThrow(
      'ranges of the statement adopted is not valid',
    )
    expect(() => statementEntry({ kind: 'waited', from: 'yesterday', to: TIME })).toThrow('from')
  })
})
